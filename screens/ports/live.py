"""What the Live screen needs of runs."""

from __future__ import annotations

from typing import Protocol

from kvtui.feed import FeedBatch
from kvtui.plan import Plan


class LiveFeed(Protocol):
    """One run, read from its start."""

    @property
    def run(self) -> str:
        """Id of the run."""

    @property
    def plan(self) -> Plan:
        """Its plan."""

    def poll(self) -> FeedBatch:
        """What is new since the last time: a bounded piece, so that nobody waits for it.

        Raises:
            RecordError: The run's record is damaged.
        """


class LiveRuns(Protocol):
    """The runs on this machine."""

    def latest(self) -> str | None:
        """Id of the run that was begun last, or ``None``; asked often, so it must be cheap."""

    def open(self, run: str) -> LiveFeed:
        """A run to follow.

        Raises:
            RecordError: There is no such run, or its plan cannot be read.
        """

    def replay(self, run: str, speed: float) -> LiveFeed:
        """A run as it went, ``speed`` times as fast.

        Raises:
            RecordError: There is no such run, or its plan cannot be read.
        """

    def what_stops(self, run: str) -> tuple[str, ...]:
        """What stopping a run would end and remove: hosts, processes, paths, one a line."""

    async def stop(self, run: str) -> None:
        """Stop a run and undo what it did on its nodes.

        Raises:
            KvtuiError: Something of it is left.
        """
