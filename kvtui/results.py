"""A run's results: a row a tier and topology, computed from its samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from kvtui.attribution import Verdict
from kvtui.findings import Finding, from_json
from kvtui.journal import TELEMETRY, Event
from kvtui.plan import Plan, Topology
from kvtui.samples import Pass, Sample, samples_of


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


def _ttft(samples: Iterable[Sample]) -> dict[str, float]:
    return {sample.document: sample.ttft_ms for sample in samples if sample.ttft_ms is not None}


def _median(values: Iterable[float]) -> float | None:
    kept = list(values)
    return median(kept) if kept else None


def row(
    tier: str,
    topology: Topology,
    documents: int,
    cold: Iterable[Sample],
    cached: Iterable[Sample],
    bytes_per_token: int | None,
) -> Row:
    """Compute one row.

    Args:
        tier: Name of the tier.
        topology: ``single`` or ``fleet``.
        documents: Documents of the plan.
        cold: Samples of the cold pass that the cached pass followed.
        cached: Samples of the cached pass.
        bytes_per_token: KV bytes a token that LMCache stores; ``None`` when not known.
    """
    cached = list(cached)
    cold_ms, cached_ms = _ttft(sample for sample in cold if sample.is_cold), _ttft(cached)
    speedups = {name: cold_ms[name] / cached_ms[name] for name in cached_ms if name in cold_ms}
    worst = min(speedups, key=lambda name: speedups[name]) if speedups else None
    counts = {verdict: sum(1 for sample in cached if sample.verdict is verdict) for verdict in Verdict}
    sizes: dict[str, int] = {}
    if bytes_per_token is not None:
        sizes = {
            sample.document: sample.reused_tokens * bytes_per_token
            for sample in cached
            if sample.reused_tokens is not None
        }
    rates = [size / cached_ms[name] * 1000 for name, size in sizes.items() if size and name in cached_ms]
    return Row(
        tier=tier,
        topology=topology.value,
        documents=documents,
        cold_n=len(cold_ms),
        cold_ms=_median(cold_ms.values()),
        cached_n=len(cached_ms),
        cached_ms=_median(cached_ms.values()),
        speedup=_median(speedups.values()),
        worst_speedup=speedups[worst] if worst else None,
        worst_document=worst,
        reused=counts[Verdict.FULL],
        partial=counts[Verdict.PARTIAL],
        unknown=counts[Verdict.UNKNOWN],
        reused_bytes=sum(sizes.values()) if sizes else None,
        throughput_bytes_s=_median(rates),
    )


def rows(plan: Plan, samples: Iterable[Sample], bytes_per_token: Mapping[str, int]) -> tuple[Row, ...]:
    """A row for each topology and tier of the plan that has any sample.

    Args:
        plan: The plan of the run.
        samples: Samples of the last attempt of each block.
        bytes_per_token: KV bytes a token by tier, as its engine said.
    """
    kept = [sample for sample in samples if sample.step in (Pass.COLD, Pass.CACHED)]
    found = []
    for topology in plan.passes.topologies:
        for tier in plan.tiers:
            cached = [
                sample
                for sample in kept
                if sample.tier == tier.name and sample.step is Pass.CACHED and sample.topology == topology
            ]
            blocks = {sample.block for sample in cached} or _blocks(kept, tier.name, topology)
            cold = [sample for sample in kept if sample.block in blocks and sample.step is Pass.COLD]
            if cold or cached:
                size = bytes_per_token.get(tier.name)
                found.append(row(tier.name, topology, plan.corpus.documents, cold, cached, size))
    return tuple(found)


def _blocks(samples: Iterable[Sample], tier: str, topology: Topology) -> set[str]:
    return {sample.block for sample in samples if sample.tier == tier and sample.topology == topology}


@dataclass(frozen=True, slots=True)
class Result:
    """Everything that a run's record says in the end.

    Attributes:
        run: Id of the run.
        plan: Name of the plan.
        state: ``done``, ``failed``, ``stopped`` or ``running``.
        reason: Why it failed or was stopped, or empty.
        rows: The tables.
        findings: What was found, in order.
        notes: What a reader must know about the plan.
    """

    run: str
    plan: str
    state: str
    reason: str
    rows: tuple[Row, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The result as a JSON object of schema 1."""
        return {"v": 1, **asdict(self)}


ENDS = {"run_done": "done", "run_failed": "failed", "run_stopped": "stopped"}


def state_of(events: Iterable[Event]) -> tuple[str, str]:
    """State of a run and its reason; an attach after a failure makes it ``running`` again."""
    state, reason = "running", ""
    for event in events:
        if event["kind"] in ENDS:
            state, reason = ENDS[event["kind"]], event.get("message", "")
        elif event["kind"] == "attached":
            state, reason = "running", ""
    return state, reason


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


def result_of(run: str, plan: Plan, events: Iterable[Event]) -> Result:
    """The result of a run, from its events alone."""
    events = tuple(event for event in events if event["kind"] not in TELEMETRY)
    state, reason = state_of(events)
    sizes = {event["tier"]: event["bytes_per_token"] for event in events if event["kind"] == "geometry"}
    findings = dict.fromkeys(from_json(event["finding"]) for event in events if event["kind"] == "finding")
    return Result(
        run=run,
        plan=plan.name,
        state=state,
        reason=reason,
        rows=rows(plan, samples_of(events), sizes),
        findings=tuple(findings),
        notes=(*plan.notes, *_corpus_notes(plan, events)),
    )
