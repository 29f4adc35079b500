"""What happens this second, in a file of the run's record, for those who look on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from kvtui.campaign.context import Reporter
from kvtui.journal import Event
from kvtui.record import RunRecord

# At most two files a second.
PERIOD_S = 0.5


class NowFile:
    """A reporter that passes everything on, and keeps up ``now.json``.

    Args:
        record: The run.
        reporter: Who tells the person.
        wall: Clock time.
    """

    def __init__(self, record: RunRecord, reporter: Reporter, wall: Callable[[], float] = time.time) -> None:
        self._record = record
        self._reporter = reporter
        self._wall = wall
        self._text = ""
        self._due: asyncio.TimerHandle | None = None

    def say(self, text: str) -> None:
        """Something worth a line."""
        self._reporter.say(text)

    def phase(self, text: str) -> None:
        """What is happening this second; replaces what was said before."""
        self._reporter.phase(text)
        self._put(text)

    def see(self, event: Event) -> None:
        """A step that begins is what happens now."""
        if event["kind"] == "step_begin":
            self._put(event["words"])

    def close(self) -> None:
        """Nothing happens any more."""
        if self._due is not None:
            self._due.cancel()
        self._record.now.unlink(missing_ok=True)

    def _put(self, text: str) -> None:
        self._text = text
        if self._due is None:
            self._write()
            self._due = asyncio.get_running_loop().call_later(PERIOD_S, self._later, text)

    def _later(self, written: str) -> None:
        self._due = None
        if self._text != written:
            self._put(self._text)

    def _write(self) -> None:
        self._record.write_json(self._record.now, {"wall_s": self._wall(), "text": self._text})
