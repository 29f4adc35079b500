"""Start a run, go on with one, stop one."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from kvtui import lab
from kvtui.campaign import runner, undo
from kvtui.campaign.context import Context, Reporter
from kvtui.campaign.lab_target import target_of_lab
from kvtui.campaign.own_documents import read_source, source_findings
from kvtui.campaign.target import Target, target_from_json, target_of_plan
from kvtui.ceiling_store import CeilingStore
from kvtui.ceilings import Ceiling, from_json
from kvtui.errors import PlanError, RecordError, RunFailed
from kvtui.journal import Journal, iter_events
from kvtui.kvsize import kv_shape, load_config
from kvtui.lab_plan import LabEngine, for_lab
from kvtui.now import NowFile
from kvtui.paths import Places
from kvtui.plan import Plan
from kvtui.progress import RunProgress
from kvtui.record import RunRecord, create
from kvtui.record_result import record_result
from kvtui.results import Result
from kvtui.run_state import ENDS, state_of
from remote.asking import Asker
from remote.errors import NodeBusy
from remote.lab.engine import ARGUMENTS, DTYPE
from remote.lab.info import LabInfo
from remote.link import Link

# A lab that a run started, and that nobody came back to, ends by itself.
_IDLE_LAB_S = 1800.0
_STOP_PATIENCE_S = 240.0


def plan_on_lab(plan: Plan, info: LabInfo) -> Plan:
    """The plan as the lab runs it.

    Raises:
        PlanError: It cannot be scaled to the lab.
    """
    config = load_config(Path(info.parts.model_dir) / "config.json")
    size_bytes = kv_shape(config, "the lab's model", DTYPE).bytes_per_token
    return for_lab(plan, LabEngine(info.parts.served_name, size_bytes, DTYPE, ARGUMENTS))


async def new_run(plan: Plan, where: Places, progress: Reporter, *, on_lab: bool) -> RunRecord:
    """Make the record of a new run; brings the lab up where the plan wants it.

    Args:
        plan: The plan.
        where: kvtui's places.
        progress: Who tells the person.
        on_lab: Run it on the lab even if it names nodes of its own.

    Raises:
        LabError: The lab cannot be brought up.
        PlanError: The plan cannot be scaled to the lab, its store's password is not set, or too few of a
            person's own documents can be used.
    """
    store_password(plan)
    source = read_source(plan)
    for finding in source_findings(source.problems if source else ()):
        progress.say(finding.line())
    if not (plan.lab or on_lab):
        return _record(plan, target_of_plan(plan), where)
    was_up = await lab.is_up(where)
    try:
        info = await lab.up(where, progress, _IDLE_LAB_S)
        plan = plan_on_lab(plan, info)
        for note in plan.notes:
            progress.say(note)
        return _record(plan, target_of_lab(info, plan.engine_nodes), where)
    except BaseException:
        if not was_up:
            await lab.down(where, progress)
        raise


def _record(plan: Plan, target: Target, where: Places) -> RunRecord:
    record = create(where.runs, time.time())
    record.write_json(record.target_file, target.to_json())
    record.write(record.plan_file, plan.model_dump_json(indent=1) + "\n")
    known = [
        ceiling.to_json() for ceiling in CeilingStore(where.state).read() if ceiling.node in target.hosts
    ]
    record.write_json(record.ceilings, known)
    return record


def _stored_target(record: RunRecord) -> Target:
    """Where the run's nodes were when it was made.

    Raises:
        RecordError: The record does not say.
    """
    try:
        return target_from_json(json.loads(record.target_file.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordError(
            f"Run {record.run} cannot be gone on with or undone: {record.target_file}, "
            "which says where its nodes are, is missing or damaged."
        ) from error


async def _fresh_target(record: RunRecord, plan: Plan, where: Places, progress: Reporter) -> Target:
    """The run's target; a lab that was started anew since then has other ports."""
    target = _stored_target(record)
    if target.lab:
        info = await lab.up(where, progress, _IDLE_LAB_S)
        target = target_of_lab(info, plan.engine_nodes)
        record.write_json(record.target_file, target.to_json())
    return target


def store_password(plan: Plan) -> str:
    """The password of the plan's store, from the variable that the plan names; empty for none.

    Raises:
        PlanError: The variable is not set.
    """
    name = plan.store.password_env if plan.store else None
    if name is None:
        return ""
    if name not in os.environ:
        raise PlanError(f"The store's password is wanted from the environment variable {name}.", "Set it.")
    return os.environ[name]


@asynccontextmanager
async def _context(
    record: RunRecord, plan: Plan, target: Target, progress: Reporter, asker: Asker | None
) -> AsyncIterator[Context]:
    journal = Journal(record.events)

    def tell(text: str) -> None:
        progress.say(text)
        progress.phase(text)

    links = {name: Link(host, asker, tell) for name, host in target.hosts.items()}
    now = NowFile(record, progress)
    telling = RunProgress(plan, now)
    telling.replay(journal.events)
    journal.listen(telling.see)
    journal.listen(now.see)
    try:
        yield Context(plan, target, record, journal, links, now, store_password=store_password(plan))
    finally:
        now.close()
        for link in links.values():
            await link.close()
        journal.close()


def _keep_ceilings(ctx: Context, where: Places) -> None:
    """What this run measured of its nodes serves the next one; a file that cannot be written harms none."""
    names = Ceiling.__slots__
    measured = [from_json({name: event[name] for name in names}) for event in ctx.journal.of_kind("ceiling")]
    with suppress(OSError):
        CeilingStore(where.state).add(measured)


async def _to_the_end(ctx: Context, where: Places, progress: Reporter) -> None:
    """Carry a run on; its end takes a lab down that a run started, unless another run has it."""
    taken = False
    try:
        await runner.run(ctx)
    except NodeBusy:
        taken = True
        raise
    finally:
        _keep_ceilings(ctx, where)
        over = state_of(ctx.journal.events)[0] != "running"
        if over and ctx.target.owns_lab and not taken:
            await lab.down(where, progress)


@contextmanager
def _ends_on_sigterm() -> Iterator[None]:
    """Take SIGTERM as a wish to stop, as Ctrl-C is; a process in the background may not hear SIGINT."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    if task is None:
        raise AssertionError
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)


async def carry_on(
    record: RunRecord, where: Places, progress: Reporter, asker: Asker | None = None
) -> Result:
    """Carry a run to its end from wherever it stands.

    Args:
        record: The run.
        where: kvtui's places.
        progress: Who tells the person.
        asker: Asks the person about new host keys and for passphrases; without one, both are refused.

    Raises:
        KvtuiError: The run failed, or another process follows it.
        RemoteError: A node failed or was lost.
        CancelledError: It was asked to stop, and has been.
    """
    plan = record.plan()
    with record.follow():
        if state_of(iter_events(record.events))[0] == "done":
            return record_result(record)
        target = await _fresh_target(record, plan, where, progress)
        async with _context(record, plan, target, progress, asker) as ctx:
            ctx.journal.append("attached" if ctx.journal.events else "run_begin", run=ctx.run, plan=plan.name)
            with _ends_on_sigterm():
                await _to_the_end(ctx, where, progress)
        return record_result(record)


def _left_over(record: RunRecord) -> tuple[str, ...]:
    """What the last end of a run could not undo."""
    left: tuple[str, ...] = ()
    for event in iter_events(record.events):
        if event["kind"] in ENDS:
            left = tuple(event.get("not_undone", ()))
    return left


async def _stop_follower(record: RunRecord, follower: int, progress: Reporter) -> None:
    progress.say(f"Asking process {follower}, which follows run {record.run}, to stop it.")
    os.kill(follower, signal.SIGTERM)
    deadline_s = time.monotonic() + _STOP_PATIENCE_S
    while record.follower_pid() is not None:
        if time.monotonic() > deadline_s:
            raise RecordError(
                f"Process {follower} did not stop run {record.run}.", f"End it: kill {follower}"
            )
        await asyncio.sleep(0.2)


async def _undo(record: RunRecord, where: Places, progress: Reporter, asker: Asker | None) -> None:
    plan = record.plan()
    stored = _stored_target(record)
    if stored.lab and not await lab.is_up(where):
        # With the lab everything in it has ended.
        journal = Journal(record.events)
        journal.append("run_stopped", message="It was stopped by kvtui stop.", not_undone=[])
        journal.close()
        return
    target = await _fresh_target(record, plan, where, progress)
    async with _context(record, plan, target, progress, asker) as ctx:
        await undo.end_early(ctx, "run_stopped", "It was stopped by kvtui stop.")
        if target.owns_lab:
            await lab.down(where, progress)


async def stop(record: RunRecord, where: Places, progress: Reporter, asker: Asker | None = None) -> None:
    """Stop a run wherever it stands, and undo what it did on its nodes; again, where that failed before.

    Raises:
        RecordError: It is over already, or its follower does not end.
        RunFailed: Something of it is left on a node.
    """
    state, _ = state_of(iter_events(record.events))
    if state != "running" and not _left_over(record):
        raise RecordError(f"Run {record.run} is over: {state}.")
    follower = record.follower_pid()
    if follower is not None:
        await _stop_follower(record, follower, progress)
    else:
        with record.follow():
            await _undo(record, where, progress, asker)
    left = _left_over(record)
    if left:
        raise RunFailed(
            f"Run {record.run} is recorded as stopped, but not all of it could be ended: {left[0]}",
            f"When the node answers again: kvtui stop {record.run}",
        )
