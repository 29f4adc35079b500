"""Runs started by the app; a start that is given up leaves nothing behind."""

from __future__ import annotations

import asyncio
import os

from kvtui import follower, launch
from kvtui.campaign.context import Reporter
from kvtui.paths import Places
from kvtui.plan import Plan
from kvtui.record import RunRecord
from kvtui.run_secrets import Secrets
from kvtui.services.runs import stop_run
from remote.asking import Asker


class AppLaunch:
    """Starts runs.

    Args:
        places: kvtui's places.
        asker: Who asked for passphrases; the process that carries a run on gets them.
    """

    def __init__(self, places: Places, asker: Asker) -> None:
        self._places = places
        self._asker = asker

    async def start(self, plan: Plan, *, on_lab: bool, teller: Reporter) -> str:
        """Make a run that a process of its own carries on; its id. Cancelled, it takes back what it began.

        Raises:
            LabError: The lab cannot be brought up.
            PlanError: The plan cannot be run.
            RecordError: The process that was to follow the run ended at once, with its sentence.
        """
        record = await launch.new_run(plan, self._places, teller, on_lab=on_lab)
        teller.phase("handing the run to a process of its own")
        starting = asyncio.create_task(asyncio.to_thread(follower.start, record, self._secrets(plan)))
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

    def _secrets(self, plan: Plan) -> Secrets:
        name = plan.store.password_env if plan.store else None
        environment = {name: os.environ[name]} if name and name in os.environ else {}
        return Secrets(environment, self._asker.passphrases)
