"""A run as it went, so many times as fast: its events and its log lines at their times."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from kvtui.feed import FeedBatch, LogPiece
from kvtui.journal import Event
from kvtui.line_reader import LineReader
from kvtui.live.line_times import LineTimes
from kvtui.plan import Plan

_EVENTS_A_POLL = 2_000
_LINES_A_POLL = 2_000


class ReplayedLog:
    """A log that gives its lines when their time has come; only a piece of it is in memory.

    Args:
        path: The file, named after node, block, try and process.
        start_wall_s: When the process was started.
    """

    def __init__(self, path: Path, start_wall_s: float) -> None:
        self.node, _, self.process = path.name.removesuffix(".log").partition(".")
        self._reader = LineReader(path)
        self._times = LineTimes(start_wall_s)
        self._waiting: deque[tuple[float, int, str]] = deque()

    def until(self, now_wall_s: float, most: int) -> LogPiece | None:
        """The next lines of before a moment, so many at most."""
        taken: list[tuple[int, str]] = []
        while len(taken) < most and (self._waiting or self._read()):
            wall_s, number, text = self._waiting[0]
            if wall_s > now_wall_s:
                break
            self._waiting.popleft()
            taken.append((number, text))
        return LogPiece(self.node, self.process, taken[0][0], tuple(t for _, t in taken)) if taken else None

    def _read(self) -> bool:
        """Read on; false at the end."""
        while True:
            before, piece = self._reader.size_left(), self._reader.read()
            if piece is not None:
                times = self._times.of(piece.lines)
                self._waiting.extend(
                    (wall_s, number, text)
                    for number, (wall_s, text) in enumerate(zip(times, piece.lines, strict=True), piece.first)
                )
                return True
            if self._reader.size_left() == before:
                return False


def started_wall_s(events: Iterable[Event], node: str, process: str) -> float | None:
    """When the engine of a log was started, which is when its ports were planned; ``None`` if unknown."""
    planned = (event for event in events if event["kind"] == "engine_planned" and event["node"] == node)
    fitting = (event for event in planned if process == f"{event['block']}.{event['attempt']}.engine")
    return next((float(event["wall_s"]) for event in fitting), None)


class ReplayFeed:
    """A run as it went, so many times as fast.

    Args:
        run: Its id.
        plan: Its plan.
        events: Everything that happened.
        speed: How many seconds of it pass in one.
        logs: Its logs.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        run: str,
        plan: Plan,
        events: tuple[Event, ...],
        speed: float,
        logs: Iterable[Path] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.run = run
        self.plan = plan
        self._events = events
        self._speed = speed
        self._clock = clock
        self._begun_s = clock()
        self._next = 0
        self._first_wall_s = min((event["wall_s"] for event in events if "wall_s" in event), default=0.0)
        self._logs = [self._log(path) for path in sorted(logs)]

    def _log(self, path: Path) -> ReplayedLog:
        node, _, process = path.name.removesuffix(".log").partition(".")
        start_wall_s = started_wall_s(self._events, node, process)
        return ReplayedLog(path, self._first_wall_s if start_wall_s is None else start_wall_s)

    def poll(self) -> FeedBatch:
        """What happened up to now, in the run's own time."""
        now_wall_s = self._first_wall_s + (self._clock() - self._begun_s) * self._speed
        start = self._next
        while self._next < len(self._events) and self._next - start < _EVENTS_A_POLL:
            # What carries no time came with what stands before it.
            if self._events[self._next].get("wall_s", 0.0) > now_wall_s:
                break
            self._next += 1
        pieces = [piece for log in self._logs if (piece := log.until(now_wall_s, _LINES_A_POLL))]
        more = self._next - start == _EVENTS_A_POLL or any(len(p.lines) == _LINES_A_POLL for p in pieces)
        return FeedBatch(self._events[start : self._next], tuple(pieces), "", now_wall_s, True, more)
