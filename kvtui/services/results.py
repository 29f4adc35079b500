"""Results and run list for the app's screens, read in a thread beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kvtui.errors import RecordError
from kvtui.journal import Event, iter_events
from kvtui.paths import Places
from kvtui.record import RunRecord, find, records
from kvtui.record_result import record_result
from kvtui.run_result import RunResult
from kvtui.run_secrets import secrets_of
from kvtui.samples import samples_of
from kvtui.services.run_list import RunSummary, list_runs
from kvtui.services.runs import attach_run, delete_run
from remote.asking import Asker


@dataclass(frozen=True, slots=True)
class RecordedRuns:
    """The runs in kvtui's own directory.

    Attributes:
        places: kvtui's places.
        asker: Who asked for passphrases; the process that carries a run on gets them.
    """

    places: Places
    asker: Asker

    async def all(self) -> tuple[RunSummary, ...]:
        """All runs, the latest first."""
        return await asyncio.to_thread(list_runs, self.places.runs)

    async def result(self, run: str | None) -> RunResult | None:
        """The result of a run, of the latest without an id; ``None`` when there is none.

        Raises:
            RecordError: Its record cannot be read, or the id fits none.
        """
        return await asyncio.to_thread(self._result, run)

    def _result(self, run: str | None) -> RunResult | None:
        if run is not None:
            return _read(find(self.places.runs, run, unfinished=False))
        refused: RecordError | None = None
        for record in reversed(records(self.places.runs)):
            try:
                return _read(record)
            except RecordError as error:
                # One damaged record must not hide all older ones.
                refused = refused or error
        if refused is not None:
            raise refused
        return None

    async def delete(self, run: str) -> None:
        """Remove a run's record.

        Raises:
            RecordError: It is not over, or the id fits none.
        """
        await asyncio.to_thread(delete_run, find(self.places.runs, run, unfinished=False))

    async def attach(self, run: str) -> None:
        """Have a process of its own carry a run on.

        Raises:
            RecordError: It ended at once, with its sentence, or the id fits none.
        """
        record = find(self.places.runs, run, unfinished=False)
        await attach_run(record, secrets_of(record.plan(), self.asker.passphrases))

    def where(self, run: str) -> str:
        """Where its record is."""
        return str(self.places.runs / run)


def _read(record: RunRecord) -> RunResult:
    plan, judged = record.plan(), list[Event]()
    try:
        result = record_result(record, events=_noting(iter_events(record.events), judged))
    except OSError as error:
        raise RecordError(f"The record {record.path} cannot be read: {error.strerror}.") from error
    return RunResult(result, plan, samples_of(judged))


def _noting(events: Iterable[Event], judged: list[Event]) -> Iterator[Event]:
    """The events as they come; a long record is mostly telemetry, and of it the samples alone are kept."""
    for event in events:
        if event["kind"] == "sample":
            judged.append(event)
        yield event
