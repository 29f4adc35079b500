"""Start a run, go on with one, stop one."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from kvtui import lab
from kvtui.campaign import runner
from kvtui.campaign.context import Context
from kvtui.campaign.lab_target import target_of_lab
from kvtui.campaign.target import Target, target_from_json, target_of_plan
from kvtui.errors import PlanError, RecordError, RunFailed
from kvtui.journal import Journal, read_events
from kvtui.kvsize import kv_shape, load_config
from kvtui.lab_plan import LabEngine, for_lab
from kvtui.paths import Places
from kvtui.plan import Plan
from kvtui.progress import Progress, RunProgress
from kvtui.record import RunRecord, create
from kvtui.results import Result, result_of, state_of
from remote.lab.engine import ARGUMENTS, DTYPE
from remote.lab.info import LabInfo
from remote.link import Link

# A lab that a run started, and that nobody came back to, ends by itself.
_IDLE_LAB_S = 1800.0
_STOP_PATIENCE_S = 240.0


def _lab_plan(plan: Plan, info: LabInfo) -> Plan:
    config = load_config(Path(info.parts.model_dir) / "config.json")
    size_bytes = kv_shape(config, "the lab's model", DTYPE).bytes_per_token
    return for_lab(plan, LabEngine(info.parts.served_name, size_bytes, DTYPE, ARGUMENTS))


async def new_run(plan: Plan, where: Places, progress: Progress, *, on_lab: bool) -> RunRecord:
    """Make the record of a new run; brings the lab up where the plan wants it.

    Args:
        plan: The plan.
        where: kvtui's places.
        progress: Who tells the person.
        on_lab: Run it on the lab even if it names nodes of its own.

    Raises:
        LabError: The lab cannot be brought up.
        PlanError: The plan cannot be scaled to the lab.
    """
    if not (plan.lab or on_lab):
        return _record(plan, target_of_plan(plan), where)
    was_up = await lab.is_up(where)
    try:
        info = await lab.up(where, progress, _IDLE_LAB_S)
        plan = _lab_plan(plan, info)
        return _record(plan, target_of_lab(info, plan.engine_nodes), where)
    except BaseException:
        if not was_up:
            await lab.down(where, progress)
        raise


def _record(plan: Plan, target: Target, where: Places) -> RunRecord:
    record = create(where.runs, time.time())
    record.write_json(record.target_file, target.to_json())
    record.write(record.plan_file, plan.model_dump_json(indent=1) + "\n")
    return record


async def _fresh_target(record: RunRecord, plan: Plan, where: Places, progress: Progress) -> Target:
    """The run's target; a lab that was started anew since then has other ports."""
    target = target_from_json(json.loads(record.target_file.read_text(encoding="utf-8")))
    if target.lab:
        info = await lab.up(where, progress, _IDLE_LAB_S)
        target = target_of_lab(info, plan.engine_nodes)
        record.write_json(record.target_file, target.to_json())
    return target


def _password(plan: Plan) -> str:
    name = plan.store.password_env if plan.store else None
    if name is None:
        return ""
    if name not in os.environ:
        raise PlanError(f"The store's password is wanted from the environment variable {name}.", "Set it.")
    return os.environ[name]


@asynccontextmanager
async def _context(
    record: RunRecord, plan: Plan, target: Target, progress: Progress
) -> AsyncIterator[Context]:
    journal = Journal(record.events)
    links = {name: Link(host) for name, host in target.hosts.items()}
    watching = RunProgress(plan, progress)
    watching.replay(journal.events)
    journal.listen(watching.see)
    try:
        yield Context(plan, target, record, journal, links, progress, store_password=_password(plan))
    finally:
        for link in links.values():
            await link.close()
        journal.close()


async def carry_on(record: RunRecord, where: Places, progress: Progress) -> Result:
    """Carry a run to its end from wherever it stands.

    Raises:
        KvtuiError: The run failed, or another process follows it.
        RemoteError: A node failed or was lost.
        CancelledError: It was asked to stop, and has been.
    """
    plan = record.plan()
    with record.follow():
        if state_of(read_events(record.events))[0] == "done":
            return result(record)
        target = await _fresh_target(record, plan, where, progress)
        async with _context(record, plan, target, progress) as ctx:
            ctx.journal.append("attached" if ctx.journal.events else "run_begin", run=ctx.run, plan=plan.name)
            try:
                await runner.run(ctx)
            finally:
                over = state_of(ctx.journal.events)[0] != "running"
                if over and target.owns_lab:
                    await lab.down(where, progress)
        return result(record)


def result(record: RunRecord) -> Result:
    """The result of a run, from its record."""
    return result_of(record.run, record.plan(), read_events(record.events))


async def stop(record: RunRecord, where: Places, progress: Progress) -> None:
    """Stop a run wherever it stands, and undo what it did on its nodes.

    Raises:
        RecordError: It is over already, or its follower does not end.
        RunFailed: Something of it is left on a node.
    """
    state, _ = state_of(read_events(record.events))
    if state != "running":
        raise RecordError(f"Run {record.run} is over: {state}.")
    follower = record.follower_pid()
    if follower is not None:
        progress.say(f"Asking process {follower}, which follows run {record.run}, to stop it.")
        os.kill(follower, signal.SIGINT)
        deadline = time.monotonic() + _STOP_PATIENCE_S
        while record.follower_pid() is not None:
            if time.monotonic() > deadline:
                raise RecordError(
                    f"Process {follower} did not stop run {record.run}.", f"End it: kill {follower}"
                )
            await asyncio.sleep(0.2)
        return
    plan = record.plan()
    with record.follow():
        target = await _fresh_target(record, plan, where, progress)
        async with _context(record, plan, target, progress) as ctx:
            failures = await runner.end_early(ctx, "run_stopped", "It was stopped by kvtui stop.")
            if target.owns_lab:
                await lab.down(where, progress)
    if failures:
        raise RunFailed(
            f"Run {record.run} is recorded as stopped, but not all of it could be ended: {failures[0]}",
            "Look at the node yourself.",
        )
