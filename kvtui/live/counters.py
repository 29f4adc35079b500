"""Rates from counters that only grow: over the last ticks, and over the time of a pass."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

TICK_S = 1.0
# A longer hole between two samples is no rate of now.
GAP_S = 5 * TICK_S
_KEPT = 120
_OVER = 3

Readings = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Reading:
    """Counters at a moment; a name that is missing is unknown."""

    wall_s: float
    values: Readings


def rate(before: Reading, after: Reading, name: str) -> float | None:
    """Growth a second between two readings; ``None`` when unknown, or when the counter began anew."""
    old, new = before.values.get(name), after.values.get(name)
    seconds = after.wall_s - before.wall_s
    if old is None or new is None or seconds <= 0 or new < old:
        return None
    return (new - old) / seconds


@dataclass(slots=True)
class Window:
    """The readings around a pass: the last before it and the first after it.

    Attributes:
        begin_wall_s: When the pass began.
        end_wall_s: When it ended; ``None`` while it goes on.
        first: The last reading before it began, else the first in it.
        last: The first reading after it ended, else the latest.
        broken: Names whose counter began anew within it.
    """

    begin_wall_s: float
    end_wall_s: float | None = None
    first: Reading | None = None
    last: Reading | None = None
    broken: frozenset[str] = frozenset()

    def take(self, reading: Reading) -> None:
        """Widen to a reading that follows on the ones before."""
        if self.closed:
            return
        if self.first is None or reading.wall_s <= self.begin_wall_s:
            self.first = self.last = reading
            return
        if self.last is not None:
            old = self.last.values
            lost = {name for name, value in old.items() if reading.values.get(name, -1.0) < value}
            self.broken |= lost
        self.last = reading

    @property
    def closed(self) -> bool:
        """Whether nothing can widen it any more."""
        return self.end_wall_s is not None and self.last is not None and self.last.wall_s >= self.end_wall_s

    def grown(self, name: str) -> float | None:
        """By how much a counter grew in all; ``None`` when unknown or when it began anew."""
        if self.first is None or self.last is None or name in self.broken:
            return None
        old, new = self.first.values.get(name), self.last.values.get(name)
        return None if old is None or new is None or self.first is self.last else new - old

    def rate(self, name: str) -> float | None:
        """Its mean growth a second."""
        grown = self.grown(name)
        if grown is None or self.first is None or self.last is None or self.last.wall_s <= self.first.wall_s:
            return None
        return grown / (self.last.wall_s - self.first.wall_s)


class Counters:
    """The counters of one node or store."""

    def __init__(self) -> None:
        self._readings: deque[Reading] = deque(maxlen=_KEPT)
        self._open: list[Window] = []

    def take(self, reading: Reading) -> None:
        """The next reading; one that is not later than the last is left out."""
        if self._readings and reading.wall_s <= self._readings[-1].wall_s:
            return
        self._readings.append(reading)
        for window in self._open:
            window.take(reading)
        self._open = [window for window in self._open if not window.closed]

    def window(self, begin_wall_s: float) -> Window:
        """Follow a pass from its begin; readings that came before the news of it count."""
        window = Window(begin_wall_s)
        for reading in self._readings:
            window.take(reading)
        self._open.append(window)
        return window

    @property
    def latest_wall_s(self) -> float | None:
        """Time of the last reading."""
        return self._readings[-1].wall_s if self._readings else None

    def rate(self, name: str) -> float | None:
        """Rate over the last three readings; ``None`` after a hole between them, or when one is unknown."""
        recent = list(self._readings)[-_OVER:] if len(self._readings) > 1 else []
        for before, after in pairwise(recent):
            if after.wall_s - before.wall_s > GAP_S or rate(before, after, name) is None:
                return None
        return rate(recent[0], recent[-1], name) if recent else None

    def names(self) -> frozenset[str]:
        """Names in the last reading."""
        return frozenset(self._readings[-1].values) if self._readings else frozenset()
