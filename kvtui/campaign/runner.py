"""The loop over the steps of a run, and its end: done, failed, stopped, or cut off."""

from __future__ import annotations

import asyncio
import time

from kvtui.campaign import watching
from kvtui.campaign.background import Background
from kvtui.campaign.block_steps import WORK
from kvtui.campaign.context import Context
from kvtui.campaign.prepare import connect, lock, prepare, release
from kvtui.campaign.revive import revive
from kvtui.campaign.steps import Step, StepKind, steps
from kvtui.campaign.undo import end_early
from kvtui.errors import RunFailed
from kvtui.kvsize import KvShape
from kvtui.record_result import record_result
from remote.errors import CommandTimeout, NodeUnreachable, StoreUnavailable


async def _finish(ctx: Context) -> None:
    for node in ctx.links:
        await watching.finish(ctx, node)
        await release(ctx, node)


async def _do(ctx: Context, step: Step) -> None:
    key = ctx.key(step)
    ctx.journal.append("step_begin", step=key, words=step.words())
    started_s = time.monotonic()
    if step.kind is StepKind.PREPARE:
        record = await prepare(ctx)
        ctx.shape = KvShape(**record)
    elif step.kind is StepKind.FINISH:
        await _finish(ctx)
        record = {}
    elif step.block is not None:
        record = await WORK[step.kind](ctx, step.block, step)
    else:
        raise AssertionError(step)
    seconds = round(time.monotonic() - started_s, 3)
    ctx.journal.append("step_done", step=key, step_kind=step.kind.name, seconds=seconds, record=record)
    ctx.journal.sync()


async def _all_steps(ctx: Context) -> None:
    background = Background(ctx)
    known = ctx.done(Step(StepKind.PREPARE))
    if known is not None:
        ctx.shape = KvShape(**known)
        for node in ctx.links:
            await lock(ctx, node)
            await watching.keep(ctx, node)
        await revive(ctx)
    *all_but_last, last = steps(ctx.plan)
    async with background.working():
        for step in all_but_last:
            background.block = step.block
            if ctx.done(step) is None:
                await _do(ctx, step)
    # Giving the nodes back comes when nobody claims them any more.
    if ctx.done(last) is None:
        await _do(ctx, last)


def _write_result(ctx: Context) -> None:
    result = record_result(ctx.record)
    ctx.record.write_json(ctx.record.result, result.to_json())


async def _end_unprepared(ctx: Context, message: str) -> None:
    """End a run that never came to its first engine; where no node was reached, there is nothing to undo."""
    if ctx.homes:
        await end_early(ctx, "run_failed", message)
    else:
        ctx.journal.append("run_failed", message=message, not_undone=[])


async def run(ctx: Context) -> None:
    """Carry a run to its end, from wherever it stands.

    A failure and a cancellation end what the run started, and keep what was measured. A lost link ends
    nothing: the pass under way goes on on the node, and a later attach reads on. A fault of kvtui's own is a
    failure too: what the run started must end.

    Raises:
        KvtuiError: The run failed.
        RemoteError: A node failed, or was lost.
        CancelledError: It was asked to stop.
    """
    try:
        await connect(ctx)
        await _all_steps(ctx)
        ctx.journal.append("run_done")
    except asyncio.CancelledError:
        await end_early(ctx, "run_stopped", "It was stopped from the keyboard.")
        raise
    except (NodeUnreachable, CommandTimeout) as error:
        if ctx.done(Step(StepKind.PREPARE)) is None:
            await _end_unprepared(ctx, str(error))
        raise
    except StoreUnavailable as error:
        await end_early(ctx, "run_failed", str(error))
        if ctx.done(Step(StepKind.PREPARE)) is None:
            raise
        raise RunFailed(error.message, error.hint) from error
    except Exception as error:
        await end_early(ctx, "run_failed", str(error) or type(error).__name__)
        raise
    finally:
        _write_result(ctx)
        ctx.journal.sync()
