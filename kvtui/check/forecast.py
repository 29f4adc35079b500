"""What a cached request and the whole run will take, from what was measured; unknown where nothing was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from kvtui.campaign.steps import Step, StepKind, serving_node, steps
from kvtui.ceilings import Ceiling, What, best
from kvtui.check.assessment import Forecast, KvFigures, TierFit, TierForecast
from kvtui.check.known import Known, Measured, MeasuredTier
from kvtui.check.limits import expand
from kvtui.check.words import gib, ms, number, rate
from kvtui.findings import Finding, Level
from kvtui.plan import Plan, Tier, TierKind, Topology

_WHAT: dict[TierKind, What] = {
    TierKind.DRAM: "memory",
    TierKind.DISK: "disk-read",
    TierKind.VALKEY: "network",
}


def forecast(plan: Plan, known: Known, kv: KvFigures | None, fits: tuple[TierFit, ...]) -> Forecast:
    """The forecast of every tier where KV can come back, and of the run."""
    tiers = [
        _tier_forecast(plan, known, kv, plan.tier(fit.tier), topology)
        for fit in fits
        for topology in plan.passes.topologies
        if fit.kind is TierKind.VALKEY or (fit.kind is not TierKind.NONE and topology is Topology.SINGLE)
    ]
    duration_s, duration_basis = _duration(plan, known.measured)
    cost, cost_basis = _cost(plan, known, duration_s)
    return Forecast(tuple(tiers), duration_s, duration_basis, cost, cost_basis)


def ceiling_of(plan: Plan, known: Known, tier: Tier, node: str) -> Ceiling | None:
    """The best that was measured of what the tier reads from, on the node that serves."""
    what = _WHAT[tier.kind]
    if tier.kind is TierKind.VALKEY and plan.store is not None:
        return best(known.ceilings, node, what, f"{plan.store.address}:{plan.store.port}")
    if tier.kind is TierKind.DISK:
        fitting = [c for c in known.ceilings if c.what == what and _same_mount(known, tier, node, c.target)]
        return best(fitting, node, what)
    return best(known.ceilings, node, what)


def _same_mount(known: Known, tier: Tier, node: str, target: str) -> bool:
    home = known.homes.get(node)
    path, measured = expand(tier.path or "", home), expand(target, home)
    if path is None or measured is None:
        return tier.path == target
    facts = known.facts.get(node)
    mount = facts.mount_of(path) if facts else None
    if facts is not None and mount is not None:
        return facts.mount_of(measured) == mount
    return PurePosixPath(path).is_relative_to(measured) or PurePosixPath(measured).is_relative_to(path)


def _measured_tier(plan: Plan, known: Known, tier: Tier, topology: Topology) -> MeasuredTier | None:
    """The tier in the earlier run, where that speaks of this plan and reused every document."""
    if known.measured is None or not known.measured.speaks_of(plan):
        return None
    for one in known.measured.tiers:
        if (one.tier, one.kind, one.topology) == (tier.name, tier.kind, topology):
            return one if one.reused == one.documents else None
    return None


def _tier_forecast(
    plan: Plan, known: Known, kv: KvFigures | None, tier: Tier, topology: Topology
) -> TierForecast:
    ceiling = ceiling_of(plan, known, tier, serving_node(plan, topology))
    floor_ms = ceiling.floor_s(kv.document_bytes) * 1000 if ceiling and kv else None
    measured = known.measured
    prefill_ms = measured.none_ms if measured and measured.speaks_of(plan) else None
    row = _measured_tier(plan, known, tier, topology)
    cold_ms, cached_ms = (row.cold_ms, row.cached_ms) if row else (None, None)
    speedup = cold_ms / cached_ms if cold_ms and cached_ms else None
    slower = None
    if prefill_ms is not None and (floor_ms is not None or cached_ms is not None):
        slower = max(floor_ms or 0.0, cached_ms or 0.0) > prefill_ms
    return TierForecast(
        tier=tier.name,
        topology=topology,
        floor_ms=floor_ms,
        ceiling=ceiling,
        prefill_ms=prefill_ms,
        speedup=speedup,
        break_even_hits=_break_even(prefill_ms, cold_ms, cached_ms),
        slower=slower,
        text=" ".join(_words(kv, ceiling, floor_ms, prefill_ms, row)),
    )


def _break_even(prefill_ms: float | None, cold_ms: float | None, cached_ms: float | None) -> float | None:
    """Hits that pay for storing a document once: what storing adds to a prefill, by what a hit saves."""
    if prefill_ms is None or cold_ms is None or cached_ms is None or cached_ms >= prefill_ms:
        return None
    return max(0.0, cold_ms - prefill_ms) / (prefill_ms - cached_ms)


def _words(
    kv: KvFigures | None,
    ceiling: Ceiling | None,
    floor_ms: float | None,
    prefill_ms: float | None,
    row: MeasuredTier | None,
) -> Iterator[str]:
    if kv and ceiling and floor_ms is not None:
        yield (
            f"{gib(kv.document_bytes)} a document at {rate(ceiling.bytes_s)} ({ceiling.how}) take "
            f"{ms(floor_ms)} at least."
        )
    else:
        yield "No floor: nothing was measured of what it reads from." if kv else "No floor: KV size unknown."
    if floor_ms is not None and prefill_ms is not None and floor_ms > prefill_ms:
        yield f"That is slower than prefill, {ms(prefill_ms)}."
    if row and row.cold_ms is not None and row.cached_ms is not None:
        yield f"An earlier run measured {ms(row.cold_ms)} cold and {ms(row.cached_ms)} cached."
        if prefill_ms is not None:
            hits = _break_even(prefill_ms, row.cold_ms, row.cached_ms)
            cost_ms = max(0.0, row.cold_ms - prefill_ms)
            yield (
                f"Storing costs {ms(cost_ms)}, and no hit ever pays for it."
                if hits is None
                else f"Storing costs {ms(cost_ms)}, which {hits:.2g} hits pay for."
            )


def forecast_findings(found: Forecast, fits: tuple[TierFit, ...]) -> tuple[Finding, ...]:
    """Tiers whose hits are slower than prefill, where there will be hits at all."""
    hits = {(fit.tier, topology): reuse.high for fit in fits for topology, reuse in fit.reuse.items()}
    return tuple(
        Finding(
            Level.WARNING,
            "slower-than-prefill",
            f"A hit is slower than computing the document anew ({one.topology}). {one.text}",
            "Read it from something faster, or leave this tier out.",
            one.tier,
        )
        for one in found.tiers
        if one.slower and hits.get((one.tier, one.topology))
    )


def _scaled(step: Step, plan: Plan, measured: Measured, seconds: float) -> float:
    """What a step will take; passes take longer with more documents or longer ones."""
    if step.kind not in (StepKind.COLD, StepKind.CACHED):
        return seconds
    return (
        seconds * plan.corpus.documents * plan.corpus.prompt_tokens / (measured.documents * measured.tokens)
    )


def _duration(plan: Plan, measured: Measured | None) -> tuple[float | None, str]:
    if measured is None or measured.model != plan.model.served_name:
        return None, "no finished run of this model is known"
    total = 0.0
    for step in steps(plan):
        seen = sorted(measured.step_s.get(step.kind.name, ()))
        if not seen:
            return None, f"run {measured.run} had no step of this kind: {step.kind}"
        total += _scaled(step, plan, measured, seen[len(seen) // 2])
    scaled = (plan.corpus.documents, plan.corpus.prompt_tokens) != (measured.documents, measured.tokens)
    return total, f"by the steps of run {measured.run}" + (", passes scaled by tokens" if scaled else "")


def _cost(plan: Plan, known: Known, duration_s: float | None) -> tuple[float | None, str]:
    names = [*plan.engine_nodes, *([plan.store.node] if plan.store and plan.needs_store else [])]
    prices: dict[str, float | None] = {}
    for name in dict.fromkeys(names):
        node = plan.nodes.get(name)
        own = node.hourly_price if node else None
        prices[name] = known.prices.get(name) if own is None else own
    missing = [name for name, price in prices.items() if price is None]
    if missing:
        return None, f"no hourly_price of {', '.join(missing)}"
    hourly = sum(price for price in prices.values() if price is not None)
    basis = f"{number(hourly)} an hour for {', '.join(prices)}"
    if duration_s is None:
        return None, f"{basis}; the duration is unknown"
    return hourly * duration_s / 3600, basis
