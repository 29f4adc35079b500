"""Which tier a working set wants on these nodes, in one sentence, with its arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kvtui.check.assessment import Forecast, KvFigures, Recommendation, TierFit, TierForecast
from kvtui.check.known import Known
from kvtui.check.words import gib, ms, number
from kvtui.plan import Plan, TierKind, Topology

_NO_KV = "No recommendation while the size of the model's KV is not known."


@dataclass(frozen=True, slots=True)
class _Choice:
    fit: TierFit
    forecast: TierForecast | None
    cached_ms: float | None

    @property
    def fits(self) -> bool:
        limit, smallest = self.fit.limit_gib, self.fit.smallest_gib
        return smallest is not None and (limit is None or smallest <= limit)


def recommend(
    plan: Plan, known: Known, kv: KvFigures | None, fits: tuple[TierFit, ...], found: Forecast
) -> Recommendation:
    """The tier of the plan that keeps every document and gives them back soonest.

    For a fleet only Valkey counts, since nothing else gives a node what another one stored. Tiers are
    compared by their cached TTFT of an earlier run, or by their floors where every one has a floor; without
    either DRAM comes first, since it needs neither a device nor a network.
    """
    if kv is None:
        return Recommendation("", None, _NO_KV, ())
    topology = Topology.FLEET if Topology.FLEET in plan.passes.topologies else Topology.SINGLE
    choices = [_choice(known, fit, found, topology) for fit in fits if _counts(fit, topology)]
    lines = tuple(_arithmetic(plan, kv, choices))
    if not choices:
        wants = "a valkey tier" if topology is Topology.FLEET else "a dram, disk or valkey tier"
        return Recommendation("", None, f"Add {wants}: no tier of the plan keeps KV where it is read.", lines)
    holding = [choice for choice in choices if choice.fits]
    if not holding:
        return Recommendation("", None, _no_room(kv, choices), lines)
    chosen = _soonest(holding)
    return Recommendation(chosen.fit.tier, chosen.fit.smallest_gib, _sentence(kv, chosen, topology), lines)


def _counts(fit: TierFit, topology: Topology) -> bool:
    if fit.smallest_gib is None or fit.smallest_gib == 0:
        return False
    return fit.kind is TierKind.VALKEY or topology is Topology.SINGLE


def _choice(known: Known, fit: TierFit, found: Forecast, topology: Topology) -> _Choice:
    own = [one for one in found.tiers if one.tier == fit.tier and one.topology is topology]
    forecast = own[0] if own else None
    cached = None
    if forecast and forecast.speedup is not None and known.measured:
        cached = next(
            (
                one.cached_ms
                for one in known.measured.tiers
                if (one.tier, one.kind, one.topology) == (fit.tier, fit.kind, topology)
            ),
            None,
        )
    return _Choice(fit, forecast, cached)


def _soonest(choices: list[_Choice]) -> _Choice:
    kinds = list(TierKind)
    measured = [choice.cached_ms for choice in choices]
    floors = [choice.forecast.floor_ms if choice.forecast else None for choice in choices]
    order = [float(kinds.index(choice.fit.kind)) for choice in choices]
    for times in (measured, floors):
        known = [time_ms for time_ms in times if time_ms is not None]
        if len(known) == len(choices):
            order = known
            break
    return choices[order.index(min(order))]


def _no_room(kv: KvFigures, choices: list[_Choice]) -> str:
    most = max(choices, key=lambda choice: choice.fit.limit_gib or 0.0)
    return (
        f"No tier has room for the working set of {gib(kv.working_set_bytes)}: the largest, {most.fit.tier}, "
        f"could have {number(most.fit.limit_gib or 0.0)} GiB of the {number(most.fit.smallest_gib or 0.0)} "
        "that it takes."
    )


def _sentence(kv: KvFigures, chosen: _Choice, topology: Topology) -> str:
    fit = chosen.fit
    where = "reach another node" if topology is Topology.FLEET else "stay on the node"
    ranks = " a rank" if kv.ranks > 1 and fit.kind is not TierKind.VALKEY else ""
    give = (
        f"Give {fit.tier} {number(fit.smallest_gib or 0.0)} GiB{ranks}: all "
        f"{gib(kv.working_set_bytes)} of KV then {where}"
    )
    forecast = chosen.forecast
    if forecast and forecast.slower and forecast.prefill_ms is not None:
        return f"Compute anew: the best tier, {fit.tier}, gives a document back later than prefill's " + (
            f"{ms(forecast.prefill_ms)}."
        )
    if chosen.cached_ms is not None and forecast and forecast.speedup is not None:
        return f"{give}, at {ms(chosen.cached_ms)} a document, {forecast.speedup:.2f}× as fast as cold."
    if forecast and forecast.floor_ms is not None:
        return f"{give}, at {ms(forecast.floor_ms)} a document or more."
    return f"{give}; how fast it is, a run or its ceilings will tell."


def _arithmetic(plan: Plan, kv: KvFigures, choices: list[_Choice]) -> Iterator[str]:
    yield f"{kv.token_bytes:,} bytes a token ({kv.source})"
    yield (
        f"{kv.document_chunks:,} whole chunks of {gib(kv.chunk_bytes)} = {gib(kv.document_bytes)} a document"
    )
    prefix = ", their common prefix once" if plan.corpus.prefix_tokens else ""
    yield f"{plan.corpus.documents:,} documents{prefix}: {gib(kv.working_set_bytes)}"
    for choice in choices:
        fit = choice.fit
        limit = (
            "limit unknown" if fit.limit_gib is None else f"at most {number(fit.limit_gib)} ({fit.limit_of})"
        )
        yield f"{fit.tier}: needs {number(fit.smallest_gib or 0.0)} GiB, {limit}"
        if choice.forecast:
            yield f"{fit.tier}: {choice.forecast.text}"
