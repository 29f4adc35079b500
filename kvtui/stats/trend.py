"""Drift: do the values of a pass rise or fall with their place in it?"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from statistics import median

# A run tests a dozen passes, so a clean one is to say nothing in nearly all of them.
DRIFT_ALPHA = 0.005
# Less over a whole pass changes no conclusion, however sure it is.
DRIFT_FROM = 0.01
_EXACT_UP_TO = 60
_SLOPES_OF = 400


@dataclass(frozen=True, slots=True)
class Drift:
    """What a pass drifted by.

    Attributes:
        size: Change from its first place to its last, as a part: 0.03 is 3 % up, −0.5 is down to half.
        chance: Chance of a trend as clear as this without any drift.
    """

    size: float
    chance: float


def drift(values: Sequence[float]) -> Drift | None:
    """The drift over a pass, by the trend test of Mann and Kendall; ``None`` where none is shown.

    It looks at ranks alone, so neither outliers nor skewed noise deceive it. The size is Theil and Sen's
    slope of the logarithms over the whole pass.

    Args:
        values: Positive values in the order of their places.
    """
    kept = [value for value in values if math.isfinite(value) and value > 0]
    count = len(kept)
    if count < 6:
        return None
    chance = trend_chance(kept)
    if chance > DRIFT_ALPHA:
        return None
    slope = _slope([math.log(value) for value in kept])
    size = math.expm1(max(-100.0, min(100.0, slope * (count - 1))))
    return Drift(size, chance) if abs(size) >= DRIFT_FROM else None


def trend_chance(values: Sequence[float]) -> float:
    """Chance of as many pairs in one order as here, either way, if the order meant nothing.

    Ties count for neither order, and the distribution is that without ties, which makes the chance too large
    rather than too small.
    """
    count = len(values)
    seen: list[float] = []
    surplus = 0
    for value in values:
        surplus += bisect_left(seen, value) - (len(seen) - bisect_right(seen, value))
        insort(seen, value)
    pairs = count * (count - 1) // 2
    if count <= _EXACT_UP_TO:
        # ⌊(pairs − |surplus|) ÷ 2⌋ inversions or fewer; a tie's half pair counts as an inversion more.
        inversions = (pairs - abs(surplus) + 1) // 2
        return min(1.0, 2 * _inversions(count)[min(inversions, pairs)])
    spread = math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    return min(1.0, math.erfc(max(0, abs(surplus) - 1) / spread / math.sqrt(2)))


@lru_cache(maxsize=64)
def _inversions(count: int) -> tuple[float, ...]:
    """Probability that a random order of so many has at most 0, 1, 2, … inversions."""
    chances = [1.0]
    for more in range(2, count + 1):
        sums = [0.0, *accumulate(chances)]
        last = len(chances)
        chances = [
            (sums[min(place + 1, last)] - sums[max(0, place + 1 - more)]) / more
            for place in range(last + more - 1)
        ]
    return tuple(accumulate(chances))


def _slope(logs: Sequence[float]) -> float:
    """Theil and Sen's slope a place; long passes are first made shorter by the medians of groups."""
    size = -(-len(logs) // _SLOPES_OF)
    middles = [median(logs[start : start + size]) for start in range(0, len(logs) - size + 1, size)]
    count = len(middles)
    return (
        median(
            (middles[late] - middles[early]) / (late - early)
            for early in range(count)
            for late in range(early + 1, count)
        )
        / size
    )
