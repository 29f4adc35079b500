"""What documents say of a median: the estimate, its interval, and how many documents would be enough."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from kvtui.stats.order import LEVEL, Interval, least_count, median_interval

# Up to here every pair of values is looked at, in Python and with numpy; beyond, the median is narrowed down.
_IN_PYTHON_UP_TO = 40
_ALL_PAIRS_UP_TO = 1000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A median over documents.

    Attributes:
        n: Documents behind it.
        median: Their median.
        hodges_lehmann: Median of all pairs' means; of ratios, of their geometric means.
        low: Lower end of the true median's interval; ``None`` with too few documents, or with drift.
        high: Upper end.
        level: Confidence that the interval really has, 0 to 1.
    """

    n: int
    median: float
    hodges_lehmann: float
    low: float | None = None
    high: float | None = None
    level: float | None = None

    @property
    def interval(self) -> Interval | None:
        """Both ends with their level."""
        if self.low is None or self.high is None or self.level is None:
            return None
        return Interval(self.low, self.high, self.level)


def middle_of(ascending: Sequence[float]) -> float:
    """The median of at least one value in ascending order, without overflow."""
    half = len(ascending) // 2
    return ascending[half] if len(ascending) % 2 else ascending[half - 1] / 2 + ascending[half] / 2


def hodges_lehmann(values: Sequence[float]) -> float:
    """The median of the means of all pairs of values, each with itself too (Hodges and Lehmann, 1963).

    Args:
        values: At least one finite value.
    """
    ascending = sorted(values)
    count = len(ascending)
    if count <= _IN_PYTHON_UP_TO:
        halves = [value / 2 for value in ascending]
        return middle_of(sorted(one + two for place, one in enumerate(halves) for two in halves[place:]))
    return _of_all_pairs(ascending) if count <= _ALL_PAIRS_UP_TO else _narrowed_down(ascending)


def _of_all_pairs(ascending: Sequence[float]) -> float:
    """The same, faster for more values."""
    import numpy as np

    halves = np.asarray(ascending) / 2
    first, second = np.triu_indices(len(ascending))
    means = halves[first] + halves[second]
    ranks = (len(means) - 1) // 2, len(means) // 2
    low, high = np.partition(means, ranks)[list(ranks)]
    return float(low / 2 + high / 2)


def _narrowed_down(ascending: Sequence[float]) -> float:
    """The same for many values: halve the span until no float lies between its ends."""
    import numpy as np

    halves = np.asarray(ascending) / 2
    count = len(ascending)
    pairs = count * (count + 1) // 2
    places = np.arange(count)

    def at_most(limit: float) -> int:
        above = np.searchsorted(halves, limit - halves, side="right")
        return int(np.maximum(above - places, 0).sum())

    def of_rank(rank: int) -> float:
        low, high = ascending[0], ascending[-1]
        for _ in range(200):
            middle = low / 2 + high / 2
            if not low < middle < high:
                break
            low, high = (low, middle) if at_most(middle) >= rank else (middle, high)
        return high

    return of_rank((pairs + 1) // 2) / 2 + of_rank(pairs // 2 + 1) / 2


def estimate(values: Iterable[float], *, steady: bool = True) -> Estimate | None:
    """Median, interval and Hodges–Lehmann estimate; ``None`` without a finite value.

    Args:
        values: One a document, independent of each other; what is not finite is left out.
        steady: Whether they have one truth: with drift there is none, and so no interval.
    """
    ascending = sorted(value for value in values if math.isfinite(value))
    if not ascending:
        return None
    return _with_interval(ascending, hodges_lehmann(ascending), steady=steady)


def _with_interval(ascending: Sequence[float], hodges_lehmann: float, *, steady: bool) -> Estimate:
    found = median_interval(ascending) if steady else None
    return Estimate(
        n=len(ascending),
        median=middle_of(ascending),
        hodges_lehmann=hodges_lehmann,
        low=found.low if found else None,
        high=found.high if found else None,
        level=found.level if found else None,
    )


def ratio_estimate(ratios: Iterable[float], *, steady: bool = True) -> Estimate | None:
    """The same of ratios: Hodges and Lehmann's estimate is of their logarithms, so that of the inverse too.

    Args:
        ratios: One a document; what is not finite and positive is left out.
        steady: Whether they have one truth.
    """
    kept = [ratio for ratio in ratios if math.isfinite(ratio) and ratio > 0]
    if not kept:
        return None
    found = _with_interval(sorted(kept), 0.0, steady=steady)
    # Held within the ratios: a logarithm's rounding may lead beyond the largest float.
    centre = min(hodges_lehmann([math.log(ratio) for ratio in kept]), math.log(max(kept)) - 1e-12)
    return replace(found, hodges_lehmann=math.exp(centre))


def paired_ratios(above: Mapping[str, float], below: Mapping[str, float]) -> dict[str, float]:
    """``above`` ÷ ``below`` of every document that has both, as far as that is a finite positive number."""
    found = {name: above[name] / below[name] for name in below if name in above and below[name] > 0}
    return {name: ratio for name, ratio in found.items() if math.isfinite(ratio) and ratio > 0}


def paired_differences(of: Mapping[str, float], less: Mapping[str, float]) -> dict[str, float]:
    """``of`` − ``less`` of every document that has both."""
    found = {name: of[name] - less[name] for name in less if name in of}
    return {name: value for name, value in found.items() if math.isfinite(value)}


def documents_needed(found: Estimate, within: float) -> int | None:
    """How many documents would give the median of ratios within that part of itself, both ways.

    The interval's half width on the logarithm's scale shrinks with the root of the documents. ``None`` where
    there is no interval to go by.

    Args:
        found: Estimate of ratios.
        within: Wanted half width as a part of the median: 0.05 for ± 5 %.
    """
    if found.interval is None or found.interval.low <= 0 or within <= 0:
        return None
    half = math.log(found.interval.high / found.interval.low) / 2
    normal = NormalDist()
    spread = half * normal.inv_cdf((1 + LEVEL) / 2) / normal.inv_cdf((1 + found.interval.level) / 2)
    wanted = found.n * (spread / math.log1p(within)) ** 2
    return max(least_count(), math.ceil(wanted)) if wanted < 1e9 else None
