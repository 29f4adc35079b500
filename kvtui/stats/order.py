"""Order statistics: a median's interval with its true level, and percentiles where samples are enough.

How often a median lies between two ranks follows from the binomial distribution alone, whatever the values
are distributed like (David and Nagaraja, Order Statistics, 3rd edition, section 7.1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

# With fewer samples a percentile is about the maximum and says nothing of its own.
P95_FROM = 20
P99_FROM = 100
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a true median lies.

    Attributes:
        low: Lower end.
        high: Upper end.
        level: Confidence that it really has, 0 to 1; at least what was asked for.
    """

    low: float
    high: float
    level: float


@lru_cache(maxsize=4096)
def outside(count: int, rank: int) -> float:
    """Probability that the true median lies below the value of that rank, from 1: P(Bin(n, ½) < rank).

    Args:
        count: Independent values.
        rank: 0 to ``count``; nothing lies below rank 0.
    """
    if rank <= 0:
        return 0.0
    place = rank - 1
    log = math.lgamma(count + 1) - math.lgamma(place + 1) - math.lgamma(count - place + 1)
    term = math.exp(log - count * math.log(2))
    total = 0.0
    while place >= 0 and term > total * 1e-17:
        total += term
        term *= place / (count - place + 1)
        place -= 1
    return total


@lru_cache(maxsize=4096)
def largest_rank(count: int, at_most: float) -> int:
    """The largest rank below whose value the median lies with no more than that probability; 0 for none."""
    low, high = 0, count // 2
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if outside(count, middle) <= at_most else (low, middle - 1)
    return low


def median_interval(ascending: Sequence[float], level: float = LEVEL) -> Interval | None:
    """The narrowest pair of equal ranks from both ends that holds the true median with at least that level.

    So 8 values give the 1st and the 8th with 99.2 %: the 2nd and the 7th have 93.0 %. ``None`` where even the
    extremes have less, which is so below 6 values at 95 %.

    Args:
        ascending: Independent values in ascending order; infinite ones may be among them.
        level: The least confidence, 0 to 1.
    """
    count = len(ascending)
    rank = largest_rank(count, (1 - level) / 2)
    if rank == 0:
        return None
    return Interval(ascending[rank - 1], ascending[-rank], 1 - 2 * outside(count, rank))


@lru_cache(maxsize=64)
def least_count(level: float = LEVEL) -> int:
    """The fewest values that have an interval of that level."""
    count = 1
    while largest_rank(count, (1 - level) / 2) == 0:
        count += 1
    return count


def enough(count: int, share: float) -> bool:
    """Whether so many independent values say anything of the percentile ``share``, 0.95 or 0.99."""
    return count >= (P99_FROM if share > 0.95 else P95_FROM)


def percentile(ascending: Sequence[float], share: float) -> float | None:
    """The smallest value that ``share`` of them do not exceed; ``None`` below 20 values for p95, 100 for p99.

    Args:
        ascending: Values in ascending order.
        share: 0.95 or 0.99.
    """
    count = len(ascending)
    return ascending[math.ceil(share * count) - 1] if enough(count, share) else None
