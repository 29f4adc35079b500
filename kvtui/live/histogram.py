"""The TTFT histogram: what it is made of, and its bins, shared by the cold and the cached samples."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

from kvtui.live.book import BlockBook, PassBook
from kvtui.live.numbers import Sorted
from kvtui.live.times import HistogramData
from kvtui.stats.trend import drift

# Beyond this ratio of the medians a linear axis squeezes the faster series into a bin or two.
LOG_FROM_RATIO = 8.0


@dataclass(frozen=True, slots=True)
class Bins:
    """Counts over shared bins.

    Attributes:
        edges_ms: One more than there are bins, ascending.
        cold: Counts of the cold samples.
        cached: Counts of the cached ones.
    """

    edges_ms: tuple[float, ...]
    cold: tuple[int, ...]
    cached: tuple[int, ...]


def far_apart(cold_median_ms: float | None, cached_median_ms: float | None) -> bool:
    """Whether the axis is to be logarithmic: when the medians differ by 8 times or more."""
    if not cold_median_ms or not cached_median_ms:
        return False
    ratio = cold_median_ms / cached_median_ms
    return ratio >= LOG_FROM_RATIO or 1 / ratio >= LOG_FROM_RATIO


def histogram_data(
    tier: str, topology: str, book: BlockBook | None, floor_ms: float | None, floor_words: str
) -> HistogramData:
    """The samples of a tier in one topology, with what is read off them."""
    cold = book.cold if book else PassBook()
    cached = book.cached[topology] if book else PassBook()
    speedup = book.speedup[topology] if book else Sorted()
    interval = speedup.interval() if _steady(cold, cached) else None
    return HistogramData(
        tier=tier,
        topology=topology,
        cold_ms=cold.ttft.values,
        cached_ms=cached.ttft.values,
        cold_median_ms=cold.ttft.median,
        cached_median_ms=cached.ttft.median,
        cold_p95_ms=cold.ttft.p95,
        cached_p95_ms=cached.ttft.p95,
        speedup=speedup.median,
        speedup_low=interval.low if interval else None,
        speedup_high=interval.high if interval else None,
        speedup_level=interval.level if interval else None,
        floor_ms=floor_ms,
        floor_words=floor_words,
        log=far_apart(cold.ttft.median, cached.ttft.median),
    )


def _steady(cold: PassBook, cached: PassBook) -> bool:
    """Whether neither pass drifts, as far as it is over: what rises and falls has no one truth."""
    if not cached.judged or cached.judged < cold.judged:
        return True
    return not any(drift(_in_order(book)) for book in (cold, cached))


def _in_order(book: PassBook) -> list[float]:
    requests = sorted(book.requests.values(), key=lambda request: request.place)
    found = (book.ttft_of(request.document) for request in requests)
    return [ttft_ms for ttft_ms in found if ttft_ms is not None]


def bins(data: HistogramData, count: int) -> Bins:
    """Put both series into the same bins, of equal width on the axis that the data ask for."""
    count = max(1, count)
    values = [series[end] for series in (data.cold_ms, data.cached_ms) if series for end in (0, -1)]
    if not values:
        return Bins((0.0, 1.0), (0,), (0,))
    low, high = min(values), max(values)
    if data.floor_ms is not None and data.floor_ms < low:
        low = data.floor_ms
    edges = _log_edges(low, high, count) if data.log and low > 0 else _edges(low, high, count)
    return Bins(edges, _counts(data.cold_ms, edges), _counts(data.cached_ms, edges))


def _edges(low: float, high: float, count: int) -> tuple[float, ...]:
    # A little air at both ends; samples that are all alike still get a bin of some width.
    air = (high - low) * 0.02 or max(abs(high) * 0.05, 0.5)
    low, high = max(0.0, low - air), high + air
    return tuple(low + (high - low) * place / count for place in range(count + 1))


def _log_edges(low: float, high: float, count: int) -> tuple[float, ...]:
    edges = _edges(0.0, math.log(high / low), count)
    air = edges[-1] - math.log(high / low)
    step = (edges[-1] + air) / count
    return tuple(low * math.exp(-air + step * place) for place in range(count + 1))


def _counts(values: tuple[float, ...], edges: tuple[float, ...]) -> tuple[int, ...]:
    """Samples a bin; ``values`` ascend, so each edge is one search."""
    places = [bisect_right(values, edge) for edge in edges[1:-1]]
    stops = [0, *places, len(values)]
    return tuple(stop - start for start, stop in pairwise(stops))
