"""Figures as they come in: unknown stays unknown, sorted values stay sorted."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Any

from kvtui.stats.order import Interval, median_interval, percentile

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
        return percentile(self._values, 0.95)

    def interval(self) -> Interval | None:
        """Where the true median lies, as the tables have it."""
        return median_interval(self._values)
