"""Figures as they come in: unknown stays unknown, sorted values stay sorted."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from functools import lru_cache
from typing import Any

# With fewer samples the 95th percentile is about the maximum and says nothing of its own.
P95_FROM = 20
_LEVEL = 0.95
_BEYOND = 1e30


def number(value: Any) -> float | None:
    """A finite number, or ``None`` for whatever else an event may hold; far beyond any measure is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if -_BEYOND < value < _BEYOND else None


def whole(value: Any) -> int | None:
    """A finite number as an integer, or ``None``."""
    found = number(value)
    return None if found is None else int(found)


def positive(value: Any) -> float | None:
    """A finite number above zero, or ``None``: what a time or a rate must be to be divided by."""
    found = number(value)
    return found if found is not None and found > 0 else None


class Sorted:
    """Values in ascending order, with their median at no cost."""

    def __init__(self) -> None:
        self._values: list[float] = []

    def __len__(self) -> int:
        return len(self._values)

    def swap(self, old: float | None, new: float | None) -> None:
        """Take ``old`` out and ``new`` in; ``None`` is no value."""
        if old is not None:
            del self._values[bisect_left(self._values, old)]
        if new is not None:
            insort(self._values, new)

    @property
    def values(self) -> tuple[float, ...]:
        """All values in ascending order."""
        return tuple(self._values)

    @property
    def median(self) -> float | None:
        """The median as ``statistics.median`` gives it."""
        count = len(self._values)
        if not count:
            return None
        middle = count // 2
        return self._values[middle] if count % 2 else (self._values[middle - 1] + self._values[middle]) / 2

    @property
    def p95(self) -> float | None:
        """The smallest value that 95 % do not exceed; ``None`` below 20 values."""
        count = len(self._values)
        return self._values[math.ceil(0.95 * count) - 1] if count >= P95_FROM else None

    def interval(self) -> tuple[float, float, float] | None:
        """Two of the values between which the true median lies, and the confidence of that.

        Order statistics: the confidence follows from the binomial distribution alone, whatever the values are
        distributed like, and is at least 95 %. Below 6 values there is no such pair.
        """
        found = _ranks(len(self._values))
        if found is None:
            return None
        rank, level = found
        return self._values[rank - 1], self._values[-rank], level


@lru_cache(maxsize=4096)
def _ranks(count: int) -> tuple[int, float] | None:
    """The largest rank from both ends whose pair holds the median with 95 %, and its confidence."""
    if count > 1000:  # the normal approximation is good to three digits by then
        rank = int(count / 2 - 0.98 * math.sqrt(count))
        return rank, _LEVEL
    below, best = 0, None
    for rank in range(1, count // 2 + 1):
        below += math.comb(count, rank - 1)
        level = 1 - 2 * below / 2**count
        if level < _LEVEL:
            break
        best = rank, level
    return best
