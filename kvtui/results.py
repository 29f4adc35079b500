"""A run's results: a row a tier and topology, computed from its samples."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from statistics import median
from typing import Any

from kvtui.attribution import Verdict
from kvtui.errors import RecordError
from kvtui.findings import Finding, from_json
from kvtui.journal import TELEMETRY, Event
from kvtui.live.state import LiveState
from kvtui.plan import Plan
from kvtui.run_state import state_of
from kvtui.sample_findings import sample_findings
from kvtui.samples import samples_of
from kvtui.stats.economics import HIT_RATES, Economics
from kvtui.stats.estimate import (
    Estimate,
    documents_needed,
    estimate,
    paired_differences,
    paired_ratios,
    ratio_estimate,
)
from kvtui.stats.order import percentile
from kvtui.tier_samples import TierSamples, tier_samples
from kvtui.worth import TierPair, tier_economics, tier_pairs

# A speedup is called well known when its interval is as narrow as this, both ways.
PRECISION = 0.05


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one tier in one topology; ``None`` where there are no data.

    Attributes:
        tier: Name of the tier.
        topology: ``single`` or ``fleet``.
        documents: Documents of the plan.
        cold_n: Cold requests that succeeded and reused nothing beyond what they share with those before.
        cold_ms: Median TTFT of them.
        cached_n: Cached requests that succeeded.
        cached_ms: Median TTFT of them.
        speedup: Median over the documents of cold TTFT ÷ cached TTFT.
        worst_speedup: The smallest of them.
        worst_document: The document that has it.
        reused: Documents whose cached request reused all that could be reused.
        partial: Documents that reused some of it.
        unknown: Documents whose evidence is missing or contradicts itself.
        reused_bytes: KV bytes that the cached pass reused in all.
        throughput_bytes_s: Median over the documents of reused bytes ÷ cached TTFT, so overhead included.
        cold_p95_ms: TTFT that 95 % of the cold requests do not exceed; ``None`` below 20 of them.
        cold_p99_ms: The same for 99 %; ``None`` below 100.
        cached_p95_ms: That of the cached requests.
        cached_p99_ms: Likewise.
        ratio: The speedup with its interval and Hodges–Lehmann estimate.
        saved_ms: Cold TTFT − cached TTFT of the documents, likewise.
        needed: Documents that would give the speedup within ± 5 %; ``None`` when there is no interval.
        drifting: Whether a pass drifts, so that there is no interval.
    """

    tier: str
    topology: str
    documents: int
    cold_n: int
    cold_ms: float | None
    cached_n: int
    cached_ms: float | None
    speedup: float | None
    worst_speedup: float | None
    worst_document: str | None
    reused: int
    partial: int
    unknown: int
    reused_bytes: int | None
    throughput_bytes_s: float | None
    cold_p95_ms: float | None
    cold_p99_ms: float | None
    cached_p95_ms: float | None
    cached_p99_ms: float | None
    ratio: Estimate | None
    saved_ms: Estimate | None
    needed: int | None
    drifting: bool


def _median(values: Iterable[float]) -> float | None:
    kept = list(values)
    return median(kept) if kept else None


def row(tier: TierSamples, documents: int, bytes_per_token: int | None) -> Row:
    """Compute one row.

    Args:
        tier: Its samples.
        documents: Documents of the plan.
        bytes_per_token: KV bytes a token that LMCache stores; ``None`` when not known.
    """
    cold_ms, cached_ms = tier.cold_ms, tier.cached_ms
    speedups = paired_ratios(cold_ms, cached_ms)
    ratio = ratio_estimate(speedups.values(), steady=tier.steady)
    worst = min(speedups, key=lambda name: speedups[name]) if speedups else None
    counts = Counter(sample.verdict for sample in tier.cached)
    sizes: dict[str, int] = {}
    if bytes_per_token is not None:
        sizes = {
            sample.document: sample.reused_tokens * bytes_per_token
            for sample in tier.cached
            if sample.reused_tokens is not None
        }
    rates = [size / cached_ms[name] * 1000 for name, size in sizes.items() if size and cached_ms.get(name)]
    cold, cached = sorted(cold_ms.values()), sorted(cached_ms.values())
    return Row(
        tier=tier.tier,
        topology=tier.topology.value,
        documents=documents,
        cold_n=len(cold),
        cold_ms=_median(cold),
        cached_n=len(cached),
        cached_ms=_median(cached),
        speedup=ratio.median if ratio else None,
        worst_speedup=speedups[worst] if worst else None,
        worst_document=worst,
        reused=counts[Verdict.FULL],
        partial=counts[Verdict.PARTIAL],
        unknown=counts[Verdict.UNKNOWN],
        reused_bytes=sum(sizes.values()) if sizes else None,
        throughput_bytes_s=_median(rate for rate in rates if math.isfinite(rate)),
        cold_p95_ms=percentile(cold, 0.95),
        cold_p99_ms=percentile(cold, 0.99),
        cached_p95_ms=percentile(cached, 0.95),
        cached_p99_ms=percentile(cached, 0.99),
        ratio=ratio,
        saved_ms=estimate(paired_differences(cold_ms, cached_ms).values(), steady=tier.steady),
        needed=documents_needed(ratio, PRECISION) if ratio else None,
        drifting=not tier.steady,
    )


@dataclass(frozen=True, slots=True)
class Result:
    """Everything that a run's record says in the end.

    Attributes:
        run: Id of the run.
        plan: Name of the plan.
        state: ``done``, ``failed``, ``stopped`` or ``running``.
        reason: Why it failed or was stopped, or empty.
        rows: The tables.
        economics: Price of storing and gain of a hit, of each tier against the engine without a cache.
        pairs: Each tier's cached pass against each other's.
        findings: What was found, in order.
        notes: What a reader must know about the plan.
    """

    run: str
    plan: str
    state: str
    reason: str
    rows: tuple[Row, ...]
    economics: tuple[Economics, ...]
    pairs: tuple[TierPair, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The result as a JSON object of schema 1."""
        return {"v": 1, **asdict(self)}


_BY_HAND = "The record was changed by hand."


def _corpus_notes(plan: Plan, events: Iterable[Event]) -> tuple[str, ...]:
    """What a reader must know of documents that are a person's own, or share a beginning."""
    notes = []
    made = [event["record"] for event in events if event.get("step_kind") == "CORPUS"]
    if plan.corpus.source is not None:
        digest = f" (SHA-256 {made[-1]['source_sha256'][:12]})" if made else ""
        notes.append(f"The documents are those of {plan.corpus.source}{digest}.")
    if made and made[-1].get("shared_tokens"):
        record = made[-1]
        total = record["documents"] * record["prompt_tokens"]
        notes.append(
            f"The requests of a pass share {record['shared_tokens']:,} of {total:,} tokens with earlier "
            "ones, in whole chunks. A tier may give these back in the cold pass too, and on a node that "
            "never saw the documents; such a request counts as cold."
        )
    return tuple(notes)


_TWICE = {"first-requests-differ"}
_PIECE = 1000


def _read(events: Iterable[Event], figures: LiveState) -> Iterator[Event]:
    """The events as they come, telemetry too, which nobody keeps."""
    waiting = iter(events)
    while piece := tuple(islice(waiting, _PIECE)):
        figures.feed(piece)
        yield from piece


def result_of(
    run: str, plan: Plan, events: Iterable[Event], hit_rates: tuple[float, ...] = HIT_RATES
) -> Result:
    """The result of a run, from its events alone.

    Args:
        run: Id of the run.
        plan: Its plan.
        events: Its events.
        hit_rates: Hit rates, 0 to 1, to tell for what an hour saves.

    Raises:
        RecordError: An event lacks a part of it, or holds a word that is none of ours.
    """
    figures = LiveState(plan)
    events = tuple(event for event in _read(events, figures) if event["kind"] not in TELEMETRY)
    state, reason = state_of(events)
    try:
        sizes = {event["tier"]: event["bytes_per_token"] for event in events if event["kind"] == "geometry"}
        findings = dict.fromkeys(
            from_json(event["finding"]) for event in events if event["kind"] == "finding"
        )
        tiers = tier_samples(plan, samples_of(events))
    except KeyError as error:
        raise RecordError(f"An event of run {run} lacks {error}.", _BY_HAND) from error
    except ValueError as error:
        raise RecordError(f"An event of run {run} cannot be read: {error}.", _BY_HAND) from error
    if state != "running":
        findings |= dict.fromkeys(sample_findings(tiers))
        # What is peculiar about the first requests has been said, with its cause.
        said = {finding.code for finding in findings}
        findings |= dict.fromkeys(one for one in figures.figure_findings() if one.code not in said & _TWICE)
    return Result(
        run=run,
        plan=plan.name,
        state=state,
        reason=reason,
        rows=tuple(row(tier, plan.corpus.documents, sizes.get(tier.tier)) for tier in tiers),
        economics=tier_economics(plan, tiers, hit_rates),
        pairs=tier_pairs(tiers),
        findings=tuple(findings),
        notes=(*plan.notes, *_corpus_notes(plan, events)),
    )
