"""The append-only record of a run: everything that happened, one JSON object a line."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kvtui.errors import RecordError

SCHEMA = 1
OWN = "kvtui"
_BLOCK_BYTES = 1 << 16

Event = dict[str, Any]


# Samples of what is used, one a second: written and told of, and not kept in a process that runs for days.
TELEMETRY = frozenset({"node_sample", "store_sample"})


def parse_event(line: bytes, path: Path, number: int) -> Event:
    """One line of a record.

    Args:
        line: The line.
        path: The record's file, for the message.
        number: The line's number, for the message.

    Raises:
        RecordError: It is not an event of this schema.
    """
    try:
        event = json.loads(line)
    except ValueError as error:
        raise RecordError(
            f"{path}, line {number}, is not JSON.", "The record was changed by hand."
        ) from error
    if not isinstance(event, dict) or event.get("v") != SCHEMA:
        raise RecordError(
            f"{path}, line {number}, is of schema {event.get('v') if isinstance(event, dict) else None!r}; "
            f"this kvtui reads schema {SCHEMA}."
        )
    if not isinstance(event.get("kind"), str):
        raise RecordError(f"{path}, line {number}, tells of no event.", "The record was changed by hand.")
    return event


def _node_event(line: bytes) -> Event:
    """An event of a node; what a killed writer left of a line is kept as what it is."""
    try:
        event = json.loads(line)
    except ValueError:
        event = None
    return event if isinstance(event, dict) and "kind" in event else {"v": SCHEMA, "kind": "torn"}


def iter_events(path: Path) -> Iterator[Event]:
    """The whole events of a record, one at a time; a torn last line is left out.

    Raises:
        RecordError: A line is not an event of this schema, or the file cannot be read.
    """
    if not path.exists():
        return
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.endswith(b"\n"):
                    yield parse_event(line, path, number)
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}.") from error


def read_events(path: Path) -> tuple[Event, ...]:
    """All whole events of a record; a torn last line is left out.

    Raises:
        RecordError: A line is not an event of this schema.
    """
    return tuple(iter_events(path))


def _whole_bytes(fd: int) -> int:
    """Bytes of a file up to its last line end."""
    end = os.fstat(fd).st_size
    while end > 0:
        start = max(0, end - _BLOCK_BYTES)
        found = os.pread(fd, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


class Journal:
    """Appends to a run's events, and merges those that were written on nodes, each exactly once.

    A merged line carries where it came from and up to which byte, so the file itself says where to go on, and
    a process that is killed between two writes leaves nothing to repair but a torn last line.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._events: list[Event] = []
        self._by_kind: dict[str, list[Event]] = {}
        self._offsets: dict[str, int] = {}
        for event in iter_events(path):
            self._note(event)
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.ftruncate(self._fd, _whole_bytes(self._fd))
        self._listeners: list[Callable[[Event], None]] = []

    def _note(self, event: Event) -> None:
        if event["src"] != OWN:
            self._offsets[event["src"]] = event["end"]
        if event["kind"] not in TELEMETRY:
            self._events.append(event)
            self._by_kind.setdefault(event["kind"], []).append(event)

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything so far but telemetry, in order."""
        return tuple(self._events)

    def of_kind(self, kind: str) -> Iterator[Event]:
        """The events of one kind so far, in order; telemetry is not kept."""
        return iter(tuple(self._by_kind.get(kind, ())))

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call ``listener`` with every event from now on."""
        self._listeners.append(listener)

    def _write(self, events: list[Event]) -> None:
        data = b"".join(json.dumps(event, ensure_ascii=False).encode() + b"\n" for event in events)
        size = os.fstat(self._fd).st_size
        try:
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError:
            # Half a line would spoil the next one.
            os.ftruncate(self._fd, size)
            raise
        for event in events:
            self._note(event)
            for listener in self._listeners:
                listener(event)

    def append(self, kind: str, **fields: Any) -> None:
        """Record something that kvtui itself did or found."""
        self._write([{"v": SCHEMA, "src": OWN, "wall_s": self._clock(), "kind": kind, **fields}])

    def offset(self, source: str) -> int:
        """Byte up to which a node's file has been merged."""
        return self._offsets.get(source, 0)

    def merge(self, source: str, offset: int, data: bytes) -> int:
        """Append the whole lines of a piece of a node's event file.

        Args:
            source: Name of the node's file, the same for its whole life.
            offset: Byte of the file at which ``data`` starts.
            data: What was read there; a torn last line is left for the next time.

        Returns:
            The byte at which to read on.

        Raises:
            RecordError: The piece does not follow on what has been merged.
        """
        if offset != self.offset(source):
            raise RecordError(f"{source}: read from byte {offset}, where {self.offset(source)} is next.")
        events = []
        end = offset
        for line in data[: data.rfind(b"\n") + 1].splitlines(keepends=True):
            start, end = end, end + len(line)
            events.append({**_node_event(line), "src": source, "off": start, "end": end})
        if events:
            self._write(events)
        return end

    def sync(self) -> None:
        """Bring the file to disk."""
        os.fsync(self._fd)

    def close(self) -> None:
        """Close the file; the journal takes nothing more."""
        os.close(self._fd)
