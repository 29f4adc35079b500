"""The finding that the repeats of a campaign are not alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from kvtui.findings import Finding, Level
from kvtui.samples import Sample
from kvtui.stats.repeats import Shift
from kvtui.tier_samples import TierSamples
from kvtui.units import ms

_NAMED = 6


def repeat_findings(tier: TierSamples) -> Iterator[Finding]:
    """What the repeats of a tier's passes say against each other."""
    repeats = tier.repeats
    if tier.cold_shift is not None:
        yield _finding(
            f"{tier.tier} · cold",
            [one.cold_ms for one in repeats],
            [one.cold for one in repeats],
            tier.cold_shift,
        )
    if tier.cached_shift is not None:
        yield _finding(
            f"{tier.tier} · {tier.topology} · cached",
            [one.cached_ms for one in repeats],
            [one.cached for one in repeats],
            tier.cached_shift,
        )


def _finding(
    where: str,
    ttft_ms: Sequence[Mapping[str, float]],
    samples: Sequence[Sequence[Sample]],
    found: Shift,
) -> Finding:
    numbers = [own[0].repeat for own in samples]
    each = [
        f"{ms(median(own.values()))} in repeat {number}{_places(requests)}"
        for number, own, requests in zip(numbers, ttft_ms, samples, strict=True)
    ]
    shown = each if len(each) <= _NAMED else [each[found.fastest], each[found.slowest]]
    way = {
        1: "TTFT rises from repeat to repeat",
        -1: "TTFT falls from repeat to repeat",
        0: "The repeats differ",
    }
    size, low, high = (f"{part * 100:.0f}" for part in (found.size, found.low, found.high))
    text = (
        f"{way[found.trend]}: by document repeat {numbers[found.slowest]} takes {size} % longer than repeat "
        f"{numbers[found.fastest]} ({low} to {high} %, {found.level * 100:.1f} %), more than their documents "
        f"explain. Medians: {', '.join(shown)}."
    )
    remedy = "Look for what changed over the run: clocks, other processes, memory, a disk that fills."
    if found.matters:
        remedy += " There is no interval; more repeats show whether it goes on."
    return Finding(Level.WARNING if found.matters else Level.INFO, "repeats-differ", text, remedy, where)


def _places(samples: Sequence[Sample]) -> str:
    """From which to which of the run's requests the pass went."""
    places = [sample.run_place for sample in samples if sample.run_place is not None]
    return f" (requests {min(places)} to {max(places)} of the run)" if places else ""
