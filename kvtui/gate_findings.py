"""What the sanity gate says when documents did not come back: that, and the cause by their own figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kvtui.attribution import Verdict
from kvtui.findings import Finding, Level
from kvtui.samples import Sample


def gate_findings(
    tier: str, node: str, cold: Sequence[Sample], cached: Sequence[Sample]
) -> tuple[Finding, ...]:
    """The gate's refusal with its causes; none where every document was reused whole.

    Args:
        tier: Name of the tier.
        node: The node that was to reuse them.
        cold: The requests that stored them.
        cached: Those that asked for them again.
    """
    missed = [sample for sample in cached if sample.verdict is not Verdict.FULL]
    return (_refusal(tier, node, missed, len(cached)), *_causes(tier, cold, missed)) if missed else ()


def _refusal(tier: str, node: str, missed: Sequence[Sample], of: int) -> Finding:
    first = missed[0]
    text = (
        f"{len(missed)} of {of} documents stored a moment ago were not reused on {node} "
        f"({first.document}: {first.verdict}; {first.reason}), so the passes would measure nothing."
    )
    remedy = "Read the engine's log in the run's record for refused stores, errors or differing keys."
    return Finding(Level.BLOCKING, "gate-no-reuse", text, remedy, tier)


def _causes(tier: str, cold: Sequence[Sample], missed: Sequence[Sample]) -> Iterator[Finding]:
    own = [sample for sample in missed if _figure(sample, "cached_tokens") and not _read(sample)]
    if own:
        text = (
            f"The engine had {sum(_figure(sample, 'cached_tokens') for sample in own):,} tokens that LMCache "
            "did not read: its own prefix cache is on, and no tier is asked for what that keeps."
        )
        remedy = "Take --enable-prefix-caching out of what starts the engine."
        yield Finding(Level.BLOCKING, "prefix-cache-on", text, remedy, tier)
    kept = [sample for sample in cold if "stored_tokens" in sample.evidence]
    short = [sample for sample in kept if _figure(sample, "stored_tokens") < sample.reusable_tokens]
    if short:
        first = short[0]
        text = (
            f"{len(short)} of {len(kept)} documents of the gate were stored only in part "
            f"({first.document}: {_figure(first, 'stored_tokens'):,} of {first.reusable_tokens:,} tokens)."
        )
        remedy = "LMCache had no room to stage them: raise max_local_cpu_size."
        yield Finding(Level.WARNING, "stored-in-part", text, remedy, tier)


def _figure(sample: Sample, name: str) -> int:
    value = sample.evidence.get(name)
    return value if isinstance(value, int) else 0


def _read(sample: Sample) -> bool:
    """Whether LMCache read any of it."""
    return _figure(sample, "retrieved_tokens") > 0
