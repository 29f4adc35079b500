"""Runs as the Live screen reads them: as they stand, or again as they went."""

from __future__ import annotations

from dataclasses import dataclass

from kvtui.feed import FeedBatch
from kvtui.journal import read_events
from kvtui.paths import Places
from kvtui.record import RunRecord, find, records
from kvtui.services.feed import RunFeed
from kvtui.services.replay import ReplayFeed
from kvtui.services.runs import stop_run
from kvtui.what_stops import what_stops
from remote.asking import Asker


class RecordedFeed:
    """A run's record, read as it grows.

    Args:
        record: The run.
    """

    def __init__(self, record: RunRecord) -> None:
        self.run = record.run
        self.plan = record.plan()
        self._feed = RunFeed(record)

    def poll(self) -> FeedBatch:
        """What is new since the last time.

        Raises:
            RecordError: The record is damaged.
        """
        return self._feed.poll()


@dataclass(frozen=True, slots=True)
class LocalRuns:
    """The runs in kvtui's own directory.

    Attributes:
        places: kvtui's places.
        asker: Who is asked about host keys and passphrases when a run is stopped.
    """

    places: Places
    asker: Asker

    def latest(self) -> str | None:
        """Id of the run that was begun last."""
        found = records(self.places.runs)
        return found[-1].run if found else None

    def open(self, run: str) -> RecordedFeed:
        """A run to follow.

        Raises:
            RecordError: There is no such run, or its plan cannot be read.
        """
        return RecordedFeed(self._record(run))

    def replay(self, run: str, speed: float) -> ReplayFeed:
        """A run as it went.

        Raises:
            RecordError: There is no such run, or it cannot be read.
        """
        record = self._record(run)
        logs = record.logs.glob("*.log")
        return ReplayFeed(record.run, record.plan(), read_events(record.events), speed, logs)

    def what_stops(self, run: str) -> tuple[str, ...]:
        """What stopping a run would end and remove."""
        record = self._record(run)
        return what_stops(record.run, record.plan())

    async def stop(self, run: str) -> None:
        """Stop a run and undo what it did on its nodes.

        Raises:
            KvtuiError: Something of it is left.
        """
        await stop_run(self._record(run), self.places, Quiet(), self.asker)

    def _record(self, run: str) -> RunRecord:
        return find(self.places.runs, run, unfinished=False)


class Quiet:
    """Tells nobody; the screen sees what happens in the record."""

    def say(self, text: str) -> None:
        """Nothing."""

    def phase(self, text: str) -> None:
        """Nothing."""
