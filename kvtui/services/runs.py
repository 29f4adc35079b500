"""Runs as the app handles them: carried on, stopped, deleted. A run lives in a process of its own."""

from __future__ import annotations

import asyncio
import secrets as tokens
import shutil

from kvtui import follower, launch
from kvtui.campaign.context import Reporter
from kvtui.errors import RecordError
from kvtui.journal import iter_events
from kvtui.paths import Places
from kvtui.record import RunRecord
from kvtui.run_secrets import Secrets
from kvtui.run_state import state_of
from remote.asking import Asker


async def attach_run(record: RunRecord, secrets: Secrets | None = None) -> int:
    """Have a detached process carry a run on that was cut off; the number of the process.

    Raises:
        RecordError: It ended at once, with its sentence.
    """
    return await asyncio.to_thread(follower.start, record, secrets)


async def stop_run(record: RunRecord, where: Places, reporter: Reporter, asker: Asker | None = None) -> None:
    """Stop a run, whoever follows it, and undo what it did on its nodes.

    Raises:
        RecordError: It is over already, or its follower does not end.
        RunFailed: Something of it is left on a node.
    """
    await launch.stop(record, where, reporter, asker)


def delete_run(record: RunRecord) -> None:
    """Remove the record of a run that is over.

    Raises:
        RecordError: It is not over.
    """
    with record.follow():
        # A record that nobody can read is no run that could go on.
        try:
            running = state_of(iter_events(record.events))[0] == "running"
        except RecordError:
            running = False
        # Without a target nothing was ever started anywhere, and nobody can go on with it.
        if running and record.target_file.exists():
            raise RecordError(
                f"Run {record.run} is not over, so its record is kept.", f"Stop it: kvtui stop {record.run}"
            )
        # Renamed first: whatever happens now, no half of a record is taken for a run.
        gone = record.path.with_name(f".deleted.{record.run}.{tokens.token_hex(4)}")
        record.path.rename(gone)
    shutil.rmtree(gone)
