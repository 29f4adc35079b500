"""The loop over the steps of a run, and its end: done, failed, stopped, or cut off."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from kvtui.campaign import engines, tiers
from kvtui.campaign.block_steps import WORK
from kvtui.campaign.context import Context
from kvtui.campaign.prepare import connect, prepare, release
from kvtui.campaign.prepare import lock as take
from kvtui.campaign.steps import Block, Step, StepKind, blocks, steps
from kvtui.errors import KvtuiError
from kvtui.kvsize import KvShape
from kvtui.results import result_of
from remote.errors import NodeUnreachable, RemoteError
from remote.process import stop_run

_CLEAN_UP_S = 180.0


async def _claim(ctx: Context, block: Block | None) -> None:
    for node in ctx.links:
        await take(ctx, node)
    if block is not None:
        await engines.renew(ctx, block)


@asynccontextmanager
async def _leases(ctx: Context, current: list[Block | None]) -> AsyncIterator[None]:
    """Claim the nodes and the current engines again and again, as long as kvtui lives."""

    async def again() -> None:
        while True:
            await asyncio.sleep(min(ctx.lease_s / 4, 60.0))
            with suppress(RemoteError):  # the step under way meets the same trouble and tells of it
                await _claim(ctx, current[0])

    task = asyncio.create_task(again())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _finish(ctx: Context) -> None:
    for node in ctx.links:
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


async def _engines_lost(ctx: Context, block: Block) -> bool:
    """Whether a block was started, is not over, and its engines are gone."""
    started = ctx.done(Step(StepKind.ENGINES, block)) is not None
    over = ctx.done(Step(StepKind.STOP, block)) is not None
    return started and not over and not await engines.alive(ctx, block)


async def _revive(ctx: Context) -> None:
    """After an attach: a block whose engines are gone has lost its tier, so it is started anew."""
    for block in blocks(ctx.plan):
        if await _engines_lost(ctx, block):
            await engines.stop(ctx, block)
            ctx.reporter.say(f"The engines of {block.tier} are gone, so its passes are measured anew.")
            ctx.journal.append("block_restarted", block=block.name, reason="engines gone")


async def _all_steps(ctx: Context) -> None:
    current: list[Block | None] = [None]
    known = ctx.done(Step(StepKind.PREPARE))
    if known is not None:
        ctx.shape = KvShape(**known)
        await _claim(ctx, None)
        await _revive(ctx)
    async with _leases(ctx, current):
        for step in steps(ctx.plan):
            current[0] = step.block
            if ctx.done(step) is None:
                await _do(ctx, step)


async def clean_up(ctx: Context) -> tuple[str, ...]:
    """End everything of the run on every node, remove what it left, and give the nodes back.

    Returns:
        A sentence for each thing that could not be undone.
    """
    failures = []
    for block in blocks(ctx.plan):
        begun = any(event["block"] == block.name for event in ctx.journal.of_kind("engine_planned"))
        if begun and ctx.done(Step(StepKind.STOP, block)) is None:
            for undo in (engines.stop, tiers.remove_own):
                try:
                    await undo(ctx, block)
                except (RemoteError, KvtuiError) as error:
                    failures.append(str(error))
    for node, link in ctx.links.items():
        try:
            await stop_run(link, ctx.run)
            await release(ctx, node)
        except (RemoteError, KvtuiError) as error:
            failures.append(str(error))
    return tuple(dict.fromkeys(failures))


async def end_early(ctx: Context, kind: str, message: str) -> tuple[str, ...]:
    """Record why a run ended, and undo what it did on the nodes.

    Returns:
        A sentence for each thing that could not be undone.
    """
    ctx.reporter.phase("ending what this run started")
    try:
        async with asyncio.timeout(_CLEAN_UP_S):
            if not ctx.homes:
                await connect(ctx)
            failures = await clean_up(ctx)
    except (RemoteError, TimeoutError) as error:
        failures = (str(error) or "The clean-up did not end in time.",)
    for failure in failures:
        ctx.reporter.say(f"Not undone: {failure}")
    ctx.journal.append(kind, message=message, not_undone=list(failures))
    return failures


def _write_result(ctx: Context) -> None:
    result = result_of(ctx.run, ctx.plan, ctx.journal.events)
    ctx.record.write_json(ctx.record.result, result.to_json())


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
    except NodeUnreachable:
        if ctx.done(Step(StepKind.PREPARE)) is None:
            await end_early(ctx, "run_failed", "A node could not be reached.")
        raise
    except Exception as error:
        await end_early(ctx, "run_failed", str(error) or type(error).__name__)
        raise
    finally:
        _write_result(ctx)
        ctx.journal.sync()
