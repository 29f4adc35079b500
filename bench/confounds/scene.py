"""A campaign under way, as an act sees it: its events as they come, the lab, and what must be undone."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from threading import Event as Flag

from kvtui.journal import Event
from remote.lab.info import LabInfo
from remote.lab.paths import LabPaths

POLL_S = 0.02


class TooLate(Exception):
    """The run was over before its moment came."""


class Scene:
    """What an act works with.

    Attributes:
        lab: The lab.
        paths: Its files.
        over: Set when the run is over.
        undo: What is undone then.
    """

    def __init__(self, lab: LabInfo, paths: LabPaths, record_of: Callable[[], Path | None]) -> None:
        """Make the scene.

        Args:
            lab: The lab.
            paths: Its files.
            record_of: Gives the record's directory, ``None`` as long as there is none.
        """
        self.lab = lab
        self.paths = paths
        self.over = Flag()
        self.undo = ExitStack()
        self._record_of = record_of
        self._record: Path | None = None
        self._offset = 0
        self._events: list[Event] = []

    @property
    def run(self) -> str:
        """Id of the run; there is one once an event of it was seen.

        Raises:
            TooLate: There is none.
        """
        if self._record is None:
            raise TooLate
        return self._record.name

    def events(self) -> list[Event]:
        """The run's events so far."""
        self._record = self._record or self._record_of()
        path = self._record / "events.jsonl" if self._record else None
        if path is not None and path.exists():
            with path.open("rb") as file:
                file.seek(self._offset)
                data = file.read()
            whole = data[: data.rfind(b"\n") + 1]
            self._offset += len(whole)
            self._events += [json.loads(line) for line in whole.splitlines()]
        return self._events

    def has(self, kind: str, ending: str = "", name: str = "step", count: int = 1) -> bool:
        """Whether there are so many events of a kind of which a field ends so."""
        found = (e for e in self.events() if e["kind"] == kind and str(e.get(name, "")).endswith(ending))
        return sum(1 for _ in found) >= count

    def wait(self, kind: str, ending: str = "", name: str = "step", count: int = 1) -> None:
        """Wait for events of a kind of which a field ends so.

        Raises:
            TooLate: The run is over.
        """
        while not self.has(kind, ending, name, count):
            if self.over.is_set():
                raise TooLate
            time.sleep(POLL_S)

    def wait_step(self, ending: str) -> None:
        """Wait until a step begins."""
        self.wait("step_begin", ending)

    def wait_answers(self, ending: str, count: int) -> None:
        """Wait until a pass has so many answers."""
        self.wait("done", ending, "src", count)

    def measured(self) -> bool:
        """Whether the cached pass, and with it all that is measured, is over."""
        return self.over.is_set() or self.has("pass_end", ".cached", "src")
