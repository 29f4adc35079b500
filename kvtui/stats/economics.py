"""What a tier costs and what it gains, against the engine without a cache, a document at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kvtui.stats.estimate import (
    Estimate,
    estimate,
    middle_of,
    paired_differences,
    paired_ratios,
    ratio_estimate,
)
from kvtui.stats.order import median_interval

HIT_RATES = (0.5, 0.9)


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Hits that pay for storing a document once.

    Attributes:
        n: Documents behind it.
        hits: Their median; ``None`` when at least half of the documents gain nothing by a hit.
        low: Lower end of its interval; ``None`` with too few documents, with drift, or with ``level`` when
            even that end is never.
        high: Upper end; ``None`` with ``level`` set when it has none: no number of hits is sure to pay.
        level: Confidence of the interval; ``None`` without one.
    """

    n: int
    hits: float | None
    low: float | None = None
    high: float | None = None
    level: float | None = None


@dataclass(frozen=True, slots=True)
class Saving:
    """What an hour of prefill saves at a hit rate.

    Attributes:
        hit_rate: Part of the requests that find their KV, 0 to 1; the others are stored.
        seconds: GPU-seconds saved of each hour that the same requests take without a cache; negative: lost.
        money: The same at the node's hourly price, in its currency; ``None`` without a price.
        money_low: Lower end of its interval.
        money_high: Upper end.
    """

    hit_rate: float
    seconds: Estimate
    money: float | None = None
    money_low: float | None = None
    money_high: float | None = None


@dataclass(frozen=True, slots=True)
class Economics:
    """The price of a tier and its gain; a part is ``None`` where nothing was measured of it.

    Attributes:
        tier: Name of the tier.
        topology: ``single`` or ``fleet``.
        fill_ms: What storing adds to a request that computes: cold TTFT − TTFT without a cache.
        fill_ratio: Cold TTFT ÷ TTFT without a cache.
        miss_ms: What looking in vain, and storing again, adds: of cached requests that reused nothing.
        miss_ratio: Their TTFT ÷ TTFT without a cache.
        gain_ms: What a hit saves: TTFT without a cache − cached TTFT, of documents reused whole.
        gain_ratio: TTFT without a cache ÷ theirs.
        break_even: Hits that pay for a fill.
        savings: What an hour saves, by hit rate.
    """

    tier: str
    topology: str
    fill_ms: Estimate | None
    fill_ratio: Estimate | None
    miss_ms: Estimate | None
    miss_ratio: Estimate | None
    gain_ms: Estimate | None
    gain_ratio: Estimate | None
    break_even: BreakEven | None
    savings: tuple[Saving, ...]


def economics(
    tier: str,
    topology: str,
    bare_ms: Mapping[str, float],
    cold_ms: Mapping[str, float],
    hit_ms: Mapping[str, float],
    miss_ms: Mapping[str, float],
    *,
    serving_ms: Mapping[str, float] | None = None,
    steady_fill: bool = True,
    steady_cached: bool = True,
    hourly_price: float | None = None,
    hit_rates: Iterable[float] = HIT_RATES,
) -> Economics:
    """Price and gain of one tier in one topology.

    Args:
        tier: Name of the tier.
        topology: ``single`` or ``fleet``.
        bare_ms: TTFT without a cache by document.
        cold_ms: TTFT of the cold pass.
        hit_ms: TTFT of cached requests that were reused whole.
        miss_ms: TTFT of cached requests that reused nothing.
        serving_ms: TTFT without a cache on the node that serves cached requests; else ``bare_ms``.
        steady_fill: Whether neither the bare nor the cold pass drifts.
        steady_cached: Whether neither the bare nor the cached pass drifts.
        hourly_price: Price of an hour of the node.
        hit_rates: Hit rates to tell savings for, 0 to 1.
    """
    serving = bare_ms if serving_ms is None else serving_ms
    fill, gain = paired_differences(cold_ms, bare_ms), paired_differences(serving, hit_ms)
    both = [name for name in gain if name in fill and bare_ms[name] > 0]
    steady = steady_fill and steady_cached
    savings = []
    for rate in hit_rates:
        seconds = estimate(
            (3600 * (rate * gain[name] - (1 - rate) * fill[name]) / bare_ms[name] for name in both),
            steady=steady,
        )
        if seconds is not None:
            savings.append(_saving(rate, seconds, hourly_price))
    return Economics(
        tier=tier,
        topology=topology,
        fill_ms=estimate(fill.values(), steady=steady_fill),
        fill_ratio=ratio_estimate(paired_ratios(cold_ms, bare_ms).values(), steady=steady_fill),
        miss_ms=estimate(paired_differences(miss_ms, serving).values(), steady=steady_cached),
        miss_ratio=ratio_estimate(paired_ratios(miss_ms, serving).values(), steady=steady_cached),
        gain_ms=estimate(gain.values(), steady=steady_cached),
        gain_ratio=ratio_estimate(paired_ratios(serving, hit_ms).values(), steady=steady_cached),
        break_even=break_even([(fill[name], gain[name]) for name in both], steady=steady),
        savings=tuple(savings),
    )


def _saving(rate: float, seconds: Estimate, hourly_price: float | None) -> Saving:
    if hourly_price is None:
        return Saving(rate, seconds)

    def money(of: float | None) -> float | None:
        return None if of is None else of / 3600 * hourly_price

    return Saving(rate, seconds, money(seconds.median), money(seconds.low), money(seconds.high))


def break_even(pairs: Sequence[tuple[float, float]], *, steady: bool = True) -> BreakEven | None:
    """Hits that pay for a fill, from each document's fill and gain.

    One that gains nothing never breaks even: it takes infinitely many hits, which ranks can hold.
    """
    if not pairs:
        return None
    hits = sorted(max(0.0, fill) / gain if gain > 0 else math.inf for fill, gain in pairs)
    found = median_interval(hits) if steady else None

    def finite(value: float) -> float | None:
        return value if math.isfinite(value) else None

    if found is None:
        return BreakEven(len(hits), finite(middle_of(hits)))
    return BreakEven(len(hits), finite(middle_of(hits)), finite(found.low), finite(found.high), found.level)
