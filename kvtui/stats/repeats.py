"""Repeats of the same documents: do they differ, and how many would a wanted precision need?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import median

from kvtui.stats.estimate import Estimate, documents_needed, middle_of
from kvtui.stats.order import median_interval, outside

# Chance of an alarm in one pass; a campaign of a dozen passes stays below 5 % together.
SHIFT_ALPHA = 0.004
# Less than the first changes no conclusion, however sure it is; from the second on there is no one truth.
SHIFT_FROM, SHIFT_MATTERS = 0.01, 0.03
_MOST_REPEATS = 50
# By which a median absolute deviation makes a normal distribution's standard deviation.
_SIGMA = 1.4826


@dataclass(frozen=True, slots=True)
class Shift:
    """Repeats of a pass that are not alike.

    Attributes:
        size: By how much the slowest repeat is slower than the fastest, as a part: the median over the
            documents.
        low: Lower end of that median's interval.
        high: Upper end.
        level: Confidence of the interval, 0 to 1.
        fastest: Which repeat is the fastest, by its place in the sequence.
        slowest: Which one is the slowest.
        trend: 1 where each repeat is slower than the one before it, −1 where each is faster, else 0.
        chance: Chance of repeats as different as these if the order of the repeats meant nothing.
    """

    size: float
    low: float
    high: float
    level: float
    fastest: int
    slowest: int
    trend: int
    chance: float

    @property
    def matters(self) -> bool:
        """Whether it is so large that the repeats have no one truth."""
        return self.size >= SHIFT_MATTERS


def shift(repeats: Sequence[Mapping[str, float]]) -> Shift | None:
    """How the repeats of a pass differ; ``None`` where that is not shown.

    Each document is compared with itself: Friedman's test on the ranks of its repeats (the sign test when
    there are two) must reject at 0.4 %, and the interval of the ratios between the fastest and the slowest
    repeat must exclude 1. Both look at order alone, so neither outliers nor skewed noise deceive them.

    Args:
        repeats: Times by document, one mapping a repeat; documents that any of them lacks are left out.
    """
    if len(repeats) < 2:
        return None
    common = [name for name in repeats[0] if all(_usable(one.get(name)) for one in repeats)]
    if not common:
        return None
    rows = [[math.log(one[name]) for one in repeats] for name in common]
    chance = _chance(rows)
    if chance > SHIFT_ALPHA:
        return None
    effects = [median(row[at] - math.fsum(row) / len(row) for row in rows) for at in range(len(repeats))]
    fastest, slowest = effects.index(min(effects)), effects.index(max(effects))
    ratios = sorted(math.exp(row[slowest] - row[fastest]) for row in rows)
    found = median_interval(ratios)
    size = middle_of(ratios) - 1
    if found is None or found.low <= 1 or size < SHIFT_FROM:
        return None
    steps = [after > before for before, after in pairwise(effects)]
    trend = 1 if all(steps) else 0 if any(steps) else -1
    return Shift(size, found.low - 1, found.high - 1, found.level, fastest, slowest, trend, chance)


def _usable(value: float | None) -> bool:
    return value is not None and math.isfinite(value) and value > 0


def _chance(rows: Sequence[Sequence[float]]) -> float:
    """Chance of ranks as uneven as these: exact for two repeats, else by the χ² that Friedman (1937) gives.

    χ² makes the chance of small numbers of documents too large rather than too small.
    """
    count, repeats = len(rows), len(rows[0])
    if repeats == 2:
        rising = sum(row[1] > row[0] for row in rows)
        falling = sum(row[1] < row[0] for row in rows)
        return min(1.0, 2 * outside(rising + falling, min(rising, falling) + 1))
    ranks = [_ranks(row) for row in rows]
    middle = (repeats + 1) / 2
    between = sum((sum(row[at] for row in ranks) - count * middle) ** 2 for at in range(repeats))
    within = sum((rank - middle) ** 2 for row in ranks for rank in row)
    return _chi_square(between * (repeats - 1) / within, repeats - 1) if within else 1.0


def _ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1; equal values share their mean rank."""
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2
        for value in values
    ]


def _chi_square(value: float, freedom: int) -> float:
    """Probability that a χ² of so many degrees of freedom exceeds ``value``."""
    half = value / 2
    order, total = (0.5, math.erfc(math.sqrt(half))) if freedom % 2 else (1.0, math.exp(-half))
    while order < freedom / 2:
        total += math.exp(order * math.log(half) - half - math.lgamma(order + 1)) if half > 0 else 0.0
        order += 1
    return min(1.0, total)


def repeats_needed(ratios: Sequence[Mapping[str, float]], found: Estimate, within: float) -> int | None:
    """How many repeats of the same documents would give the median of ratios within that part of itself.

    Repeats shrink only what differs from one repeat of a document to the next. What differs from one
    document to another stays, so where that alone is too much, or where there is one repeat, the answer is
    ``None``: then more documents are needed.

    Args:
        ratios: Ratios by document, one mapping a repeat.
        found: The estimate of the documents' ratios over these repeats.
        within: Wanted half width as a part of the median: 0.05 for ± 5 %.
    """
    documents = documents_needed(found, within)
    common = [name for name in ratios[0] if all(_usable(one.get(name)) for one in ratios)] if ratios else []
    if len(ratios) < 2 or documents is None or not common:
        return None
    logs = [[math.log(one[name]) for name in common] for one in ratios]
    differences = [
        value
        for one, two in combinations(logs, 2)
        for value in _centred([a - b for a, b in zip(one, two, strict=True)])
    ]
    own = _spread(differences) ** 2 / 2 * _of_a_median(len(ratios))
    whole = _spread([median(values) for values in zip(*logs, strict=True)]) ** 2
    if whole <= 0 or own <= 0:
        return None
    share = min(1.0, own / whole)
    wanted = _of_a_median(len(ratios)) * (found.n / documents - 1 + share) / share
    return next((count for count in range(1, _MOST_REPEATS + 1) if _of_a_median(count) <= wanted), None)


def _centred(values: Sequence[float]) -> list[float]:
    middle = median(values)
    return [value - middle for value in values]


def _spread(values: Sequence[float]) -> float:
    """A standard deviation that outliers do not move."""
    return _SIGMA * median(abs(value) for value in _centred(values))


def _of_a_median(count: int) -> float:
    """Variance of the median of so many normal values, as a part of that of one; about, and not too small."""
    return 1 / count if count <= 2 else math.pi / (2 * count + math.pi - 2)
