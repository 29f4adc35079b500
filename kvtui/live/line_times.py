"""When the lines of a log were written, for a run that is shown again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from kvtui.rules.stamps import stamp

# An engine writes its first stamped line soon after its start; zones differ by whole quarters of an hour.
_QUARTER_S = 900
_FIRST_WITHIN_S = 600


class LineTimes:
    """Clock times for the lines of one log, which name neither year nor zone, and most of them no time.

    Args:
        start_wall_s: When the process was started.
    """

    def __init__(self, start_wall_s: float) -> None:
        self._start_wall_s = self._wall_s = start_wall_s
        self._zone_s: float | None = None

    def of(self, lines: Iterable[str]) -> Iterator[float]:
        """The time of each of the next lines: its own, or else that of the line before; never going back."""
        for line in lines:
            told = stamp(line)
            naive = self._naive(told) if told else None
            if naive is not None:
                self._wall_s = max(self._wall_s, naive - self._zone(naive))
            yield self._wall_s

    def _naive(self, told: str) -> float | None:
        """The stamp as if its zone were UTC, in the year that brings it nearest to the process's start."""
        year = datetime.fromtimestamp(self._start_wall_s, UTC).year
        found = []
        for guess in (year - 1, year, year + 1):
            try:
                moment = datetime.strptime(f"{guess}-{told}", "%Y-%m-%d %H:%M:%S")
            except ValueError:
                continue
            found.append(moment.replace(tzinfo=UTC).timestamp())
        return min(found, key=lambda wall_s: abs(wall_s - self._start_wall_s), default=None)

    def _zone(self, naive: float) -> float:
        """How far the node's zone is ahead of UTC, from the first stamp."""
        if self._zone_s is None:
            late_s = naive - self._start_wall_s - _FIRST_WITHIN_S / 2
            self._zone_s = float(round(late_s / _QUARTER_S) * _QUARTER_S)
        return self._zone_s
