"""Checks and starts for the app; a start that is given up leaves nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from kvtui import follower, launch
from kvtui.campaign.context import Reporter
from kvtui.errors import RecordError
from kvtui.paths import Places
from kvtui.plan import Plan, load_plan
from kvtui.plan_commands import script
from kvtui.preflight import CheckRow
from kvtui.record import RunRecord, records
from kvtui.recordings import DEFAULT_PLAN
from kvtui.run_secrets import secrets_of
from kvtui.services.links import LinkPool
from kvtui.services.live_runs import LocalRuns
from kvtui.services.preflight import Preflight, Told
from kvtui.services.runs import stop_run
from remote.asking import Asker


class StartTeller(Reporter, Protocol):
    """Who is told how a start goes."""

    def handing_over(self) -> None:
        """All is made ready; the run is given to a process of its own."""


class AppLaunch:
    """Checks plans and starts runs.

    Args:
        places: kvtui's places.
        pool: The links that checks are made over.
        asker: Who asked for passphrases; the process that carries a run on gets them.
    """

    def __init__(self, places: Places, pool: LinkPool, asker: Asker) -> None:
        self._places = places
        self._asker = asker
        self._preflight = Preflight(places, pool)
        self._runs = LocalRuns(places, asker)
        self._under_way: set[asyncio.Task[str]] = set()

    async def check(self, plan: Plan, *, on_lab: bool, told: Told) -> tuple[CheckRow, ...]:
        """Check everything on all nodes; ``told`` gets all rows whenever one changes."""
        return await self._preflight.check(plan, on_lab=on_lab, told=told)

    async def recheck(self, row: CheckRow, told: Told) -> tuple[CheckRow, ...]:
        """Check again what one row of the last check depends on."""
        return await self._preflight.recheck(row, told)

    def mended(self, row: CheckRow) -> Plan | None:
        """The plan with the fix of a row; ``None`` where the plan is not what can be mended."""
        return self._preflight.mended(row)

    async def measure(self, said: Callable[[str], None], told: Told) -> None:
        """Measure the ceilings of the engine nodes, one after another.

        Raises:
            RemoteError: Something could not be measured; what could be is kept.
        """
        await self._preflight.measure(said, told)

    def script(self, plan: Plan) -> str:
        """The commands and files with which the plan's engines start.

        Raises:
            PlanError: A value does not survive the way there.
        """
        return script(plan, self._preflight.shape(plan))

    def last_plan(self) -> tuple[str, Plan]:
        """The plan that was run last, or kvtui's own where none was; with its name."""
        for record in reversed(records(self._places.runs)):
            with suppress(RecordError):
                plan = record.plan()
                return plan.name, plan
        plan = load_plan(DEFAULT_PLAN)
        return plan.name, plan

    async def start(self, plan: Plan, *, on_lab: bool, teller: StartTeller) -> str:
        """Make a run that a process of its own carries on; its id. Cancelled, it takes back what it began.

        Raises:
            LabError: The lab cannot be brought up.
            PlanError: The plan cannot be run.
            RecordError: The process that was to follow the run ended at once, with its sentence.
        """
        task = asyncio.create_task(self._start(plan, teller, on_lab=on_lab))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await task

    async def settled(self) -> None:
        """Give up a start that is under way, and wait until it has taken back what it began."""
        for task in tuple(self._under_way):
            # A second cancellation would interrupt the first one's work.
            if not task.cancelling():
                task.cancel()
        if self._under_way:
            await asyncio.wait(self._under_way)

    async def _start(self, plan: Plan, teller: StartTeller, *, on_lab: bool) -> str:
        record = await launch.new_run(plan, self._places, teller, on_lab=on_lab)
        secrets = secrets_of(plan, self._asker.passphrases)
        teller.handing_over()
        starting = asyncio.create_task(asyncio.to_thread(follower.start, record, secrets))
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            # The thread cannot be ended, and what it starts must be.
            await self._take_back(record, starting, teller)
            raise
        return record.run

    async def _take_back(self, record: RunRecord, starting: asyncio.Task[int], teller: Reporter) -> None:
        await asyncio.wait({starting})
        await stop_run(record, self._places, teller, self._asker)

    def what_stops(self, run: str) -> tuple[str, ...]:
        """What stopping a run would end and remove, one a line."""
        return self._runs.what_stops(run)

    async def stop(self, run: str) -> None:
        """Stop a run and undo what it did on its nodes.

        Raises:
            KvtuiError: Something of it is left.
        """
        await self._runs.stop(run)
