"""A run's results: a row a tier and topology, computed from its samples."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from statistics import median
from typing import Any

from kvtui.answer_check import AnswerCheck, check_all
from kvtui.answer_words import answer_findings
from kvtui.attribution import Verdict
from kvtui.errors import RecordError
from kvtui.feed import LogPiece
from kvtui.findings import Finding, from_json
from kvtui.journal import TELEMETRY, Event
from kvtui.live.state import LiveState
from kvtui.plan import Plan
from kvtui.run_state import state_of
from kvtui.sample_findings import sample_findings
from kvtui.samples import samples_of
from kvtui.served import served_words
from kvtui.stats.economics import HIT_RATES, Economics
from kvtui.stats.estimate import (
    Estimate,
    documents_needed,
    estimate,
    paired_differences,
    paired_ratios,
    ratio_estimate,
)
from kvtui.stats.order import enough, percentile
from kvtui.stats.repeats import repeats_needed
from kvtui.tier_samples import TierSamples, tier_samples
from kvtui.worth import TierPair, tier_economics, tier_pairs

# A speedup is called well known when its interval is as narrow as this, both ways.
PRECISION = 0.05


@dataclass(frozen=True, slots=True)
class RepeatRow:
    """What one repeat gave of a tier in a topology; ``None`` where there are no data.

    Attributes:
        repeat: Which one, from 1.
        first_place: Place of its first request among all of the run; ``None`` where it was not recorded.
        last_place: Place of its last one.
        cold_n: Cold requests that succeeded and were cold.
        cold_ms: Median TTFT of them.
        cached_n: Cached requests that succeeded.
        cached_ms: Median TTFT of them.
        speedup: Median over the documents of cold TTFT ÷ cached TTFT.
        reused: Documents whose cached request reused all that could be reused.
    """

    repeat: int
    first_place: int | None
    last_place: int | None
    cold_n: int
    cold_ms: float | None
    cached_n: int
    cached_ms: float | None
    speedup: float | None
    reused: int


def repeat_row(one: TierSamples) -> RepeatRow:
    """Compute the row of one repeat."""
    places = [sample.run_place for sample in (*one.cold, *one.cached) if sample.run_place is not None]
    return RepeatRow(
        repeat=one.repeat,
        first_place=min(places, default=None),
        last_place=max(places, default=None),
        cold_n=len(one.cold_ms),
        cold_ms=_median(one.cold_ms.values()),
        cached_n=len(one.cached_ms),
        cached_ms=_median(one.cached_ms.values()),
        speedup=_median(paired_ratios(one.cold_ms, one.cached_ms).values()),
        reused=sum(verdict is Verdict.FULL for verdict in one.verdicts.values()),
    )


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one tier in one topology; ``None`` where there are no data.

    Attributes:
        tier: Name of the tier.
        topology: ``single`` or ``fleet``.
        documents: Documents of the plan.
        cold_n: Documents whose cold request succeeded and reused nothing beyond what it shares with those
            before; with repeats the TTFT of a document is the median over its repeats.
        cold_ms: Median TTFT of them.
        cached_n: Documents whose cached request succeeded.
        cached_ms: Median TTFT of them.
        speedup: Median over the documents of cold TTFT ÷ cached TTFT.
        worst_speedup: The smallest of them.
        worst_document: The document that has it.
        reused: Documents whose cached request reused all that could be reused, in every repeat.
        partial: Documents that reused some of it, or not in every repeat alike.
        unknown: Documents whose evidence is missing or contradicts itself, in any repeat.
        reused_bytes: KV bytes that a cached pass reused in all.
        throughput_bytes_s: Median over the documents of reused bytes ÷ cached TTFT, so overhead included.
        cold_p95_ms: TTFT that 95 % of the cold requests of all repeats do not exceed; ``None`` below 20
            documents.
        cold_p99_ms: The same for 99 %; ``None`` below 100.
        cached_p95_ms: That of the cached requests.
        cached_p99_ms: Likewise.
        ratio: The speedup with its interval and Hodges–Lehmann estimate.
        saved_ms: Cold TTFT − cached TTFT of the documents, likewise.
        needed: Documents that would give the speedup within ± 5 %; ``None`` when there is no interval.
        drifting: Whether a pass drifts, or repeats differ, so that there is no interval.
        repeats: Repeats of the campaign that have samples.
        by_repeat: What each of them gave alone.
        needed_repeats: Repeats of the same documents that would give the speedup within ± 5 %; ``None`` where
            there is one repeat, no interval, or where only more documents help.
        repeats_differ: Whether that is why there is no interval.
        served: What served the cached requests by their counts of bytes; empty where nothing is said of any.
        answers: Whether the reused KV is right; ``None`` where no answers can be compared.
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
    repeats: int = 1
    by_repeat: tuple[RepeatRow, ...] = ()
    needed_repeats: int | None = None
    repeats_differ: bool = False
    served: str = ""
    answers: AnswerCheck | None = None


def _median(values: Iterable[float]) -> float | None:
    kept = list(values)
    return median(kept) if kept else None


def row(
    tier: TierSamples, documents: int, bytes_per_token: int | None, answers: AnswerCheck | None = None
) -> Row:
    """Compute one row.

    Args:
        tier: Its samples.
        documents: Documents of the plan.
        bytes_per_token: KV bytes a token that LMCache stores; ``None`` when not known.
        answers: What its answers say.
    """
    cold_ms, cached_ms = tier.cold_ms, tier.cached_ms
    speedups = paired_ratios(cold_ms, cached_ms)
    ratio = ratio_estimate(speedups.values(), steady=tier.steady)
    worst = min(speedups, key=lambda name: speedups[name]) if speedups else None
    counts = Counter(tier.verdicts.values())
    sizes: dict[str, float] = {}
    if bytes_per_token is not None:
        sizes = {name: tokens * bytes_per_token for name, tokens in tier.reused_tokens.items()}
    rates = [size / cached_ms[name] * 1000 for name, size in sizes.items() if size and cached_ms.get(name)]
    cold, cached = sorted(tier.cold_requests_ms), sorted(tier.cached_requests_ms)
    tails = [
        # Requests of one document are not independent: what is enough is counted in documents.
        percentile(requests, share) if enough(len(documents_ms), share) else None
        for requests, documents_ms in ((cold, cold_ms), (cached, cached_ms))
        for share in (0.95, 0.99)
    ]
    each = tier.repeats
    each_ratios = [paired_ratios(one.cold_ms, one.cached_ms) for one in each]
    return Row(
        tier=tier.tier,
        topology=tier.topology.value,
        documents=documents,
        cold_n=len(cold_ms),
        cold_ms=_median(cold_ms.values()),
        cached_n=len(cached_ms),
        cached_ms=_median(cached_ms.values()),
        speedup=ratio.median if ratio else None,
        worst_speedup=speedups[worst] if worst else None,
        worst_document=worst,
        reused=counts[Verdict.FULL],
        partial=counts[Verdict.PARTIAL],
        unknown=counts[Verdict.UNKNOWN],
        reused_bytes=round(sum(sizes.values())) if sizes else None,
        throughput_bytes_s=_median(rate for rate in rates if math.isfinite(rate)),
        cold_p95_ms=tails[0],
        cold_p99_ms=tails[1],
        cached_p95_ms=tails[2],
        cached_p99_ms=tails[3],
        ratio=ratio,
        saved_ms=estimate(paired_differences(cold_ms, cached_ms).values(), steady=tier.steady),
        needed=documents_needed(ratio, PRECISION) if ratio else None,
        drifting=not tier.steady,
        repeats=len(each),
        by_repeat=tuple(repeat_row(one) for one in each),
        needed_repeats=repeats_needed(each_ratios, ratio, PRECISION) if ratio else None,
        repeats_differ=tier.repeats_differ,
        served=served_words(tier.cached),
        answers=answers,
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


def _kv_number_bytes(events: Iterable[Event]) -> int | None:
    """Bytes of one number of the KV, as the run's preparation found them."""
    found = [event["record"].get("dtype_bytes") for event in events if event.get("step_kind") == "PREPARE"]
    return found[-1] if found else None


# The tables have the price of storing with its interval.
_IN_TABLES = {"price-of-storing"}
_TWICE = {"first-requests-differ"}
_PIECE = 1000


def _read(events: Iterable[Event], figures: LiveState) -> Iterator[Event]:
    """The events as they come, telemetry too, which nobody keeps."""
    waiting = iter(events)
    while piece := tuple(islice(waiting, _PIECE)):
        figures.feed(piece)
        yield from piece


def result_of(
    run: str,
    plan: Plan,
    events: Iterable[Event],
    hit_rates: tuple[float, ...] = HIT_RATES,
    logs: Iterable[LogPiece] = (),
) -> Result:
    """The result of a run, from its events, and what its logs say beside them.

    Args:
        run: Id of the run.
        plan: Its plan.
        events: Its events.
        hit_rates: Hit rates, 0 to 1, to tell for what an hour saves.
        logs: Its logs, which are read once the run is over.

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
    answers = check_all(tiers, plan.engine.dtype, _kv_number_bytes(events))
    if state != "running":
        for tier, check in zip(tiers, answers, strict=True):
            findings |= dict.fromkeys(answer_findings(f"{tier.tier} · {tier.topology}", check))
        findings |= dict.fromkeys(sample_findings(tiers))
        # What is peculiar about the first requests has been said, with its cause.
        said = _IN_TABLES | {finding.code for finding in findings} & _TWICE
        findings |= dict.fromkeys(one for one in figures.figure_findings() if one.code not in said)
        findings |= dict.fromkeys(figures.line_findings(logs))
    return Result(
        run=run,
        plan=plan.name,
        state=state,
        reason=reason,
        rows=tuple(
            row(tier, plan.corpus.documents, sizes.get(tier.tier), check)
            for tier, check in zip(tiers, answers, strict=True)
        ),
        economics=tier_economics(plan, tiers, hit_rates),
        pairs=tier_pairs(tiers),
        findings=tuple(findings),
        notes=(*plan.notes, *_corpus_notes(plan, events)),
    )
