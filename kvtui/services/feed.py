"""Reads a run's record for a screen, as it grows."""

from __future__ import annotations

import json
import time
from pathlib import Path

from kvtui.errors import RecordError
from kvtui.feed import FeedBatch, LogPiece
from kvtui.journal import Event, parse_event
from kvtui.line_reader import LineReader
from kvtui.log_pieces import process_of
from kvtui.record import RunRecord

# So much is read in a few hundredths of a second, during which a screen can draw nothing.
_EVENT_BYTES = 1 << 18
_LOG_PIECES = 4


class RunFeed:
    """Reads a run's record from its start, each time as much as is new and as a screen can take at once."""

    def __init__(self, record: RunRecord) -> None:
        self._record = record
        self._offset = 0
        self._number = 1
        self._limit = _EVENT_BYTES
        self._logs: dict[str, LineReader] = {}

    def poll(self) -> FeedBatch:
        """What is new since the last time.

        Raises:
            RecordError: The record was damaged; what stood before the damage has been given already.
        """
        events, more_events = self._new_events()
        pieces, more_lines = self._new_lines()
        alive = self._record.follower_pid() is not None
        # What a process said that has ended does not happen now.
        now = self._now() if alive else ""
        return FeedBatch(events, pieces, now, time.time(), alive, more_events or more_lines)

    def _new_events(self) -> tuple[tuple[Event, ...], bool]:
        path = self._record.events
        try:
            with path.open("rb") as file:
                file.seek(self._offset)
                data = file.read(self._limit)
        except FileNotFoundError:
            return (), False
        full = len(data) == self._limit
        whole = data[: data.rfind(b"\n") + 1]
        # A line longer than a piece is read whole next time.
        self._limit = self._limit * 2 if full and not whole else _EVENT_BYTES
        events: list[Event] = []
        for line in whole.splitlines(keepends=True):
            try:
                event = parse_event(line, path, self._number)
            except RecordError:
                if events:
                    return tuple(events), True
                raise
            events.append(event)
            self._offset += len(line)
            self._number += 1
        return tuple(events), full

    def _new_lines(self) -> tuple[tuple[LogPiece, ...], bool]:
        for path in sorted(self._record.logs.glob("*.log")):
            self._logs.setdefault(path.name, LineReader(path))
        pieces: list[LogPiece] = []
        more = False
        for name, reader in self._logs.items():
            node, process = process_of(Path(name))
            for _ in range(_LOG_PIECES):
                before = reader.size_left()
                found = reader.read()
                if found is not None:
                    pieces.append(LogPiece(node, process, found.first, found.lines))
                if reader.size_left() == before:
                    break  # nothing, or only the start of a line
            else:
                more = True
        return tuple(pieces), more

    def _now(self) -> str:
        try:
            return str(json.loads(self._record.now.read_text(encoding="utf-8"))["text"])
        except (OSError, ValueError, KeyError, TypeError):
            return ""
