"""Ending a run before its end: everything of it ended and removed, node by node, whatever else fails."""

from __future__ import annotations

import asyncio

from kvtui.campaign import engines, tiers, watching
from kvtui.campaign.context import Context
from kvtui.campaign.prepare import release
from kvtui.campaign.steps import Block, block_nodes, blocks
from kvtui.plan import TierKind
from remote.errors import RemoteError
from remote.link import home
from remote.process import stop_run

_NODE_S = 90.0


def begun(ctx: Context) -> tuple[Block, ...]:
    """The blocks whose engines were ever planned."""
    planned = {event["block"] for event in ctx.journal.of_kind("engine_planned")}
    return tuple(block for block in blocks(ctx.plan) if block.name in planned)


async def _undo_node(ctx: Context, node: str) -> None:
    link = ctx.links[node]
    ctx.homes[node] = await home(link)
    for block in begun(ctx):
        if node in block_nodes(ctx.plan, block):
            await engines.log_copy(ctx, block, node).update()
    await stop_run(link, ctx.run)
    await watching.merge(ctx, node)
    for tier in ctx.plan.tiers:
        if tier.kind is TierKind.DISK and node in ctx.plan.engine_nodes:
            await tiers.remove_files(ctx, tier, node)
    await release(ctx, node)


async def clean_up(ctx: Context) -> tuple[str, ...]:
    """End everything of the run on every node that answers, remove what it left, give the nodes back.

    Returns:
        A sentence for each thing that could not be undone.
    """
    failures = []
    for node in ctx.links:
        try:
            async with asyncio.timeout(_NODE_S):
                await _undo_node(ctx, node)
        except RemoteError as error:
            failures.append(str(error))
        except TimeoutError:
            failures.append(f"{node} was not cleaned up within {_NODE_S:.0f} s.")
    if any(ctx.tier(block).kind is TierKind.VALKEY for block in begun(ctx)):
        try:
            await tiers.remove_keys(ctx)
        except RemoteError as error:
            failures.append(str(error))
    return tuple(dict.fromkeys(failures))


async def end_early(ctx: Context, kind: str, message: str) -> tuple[str, ...]:
    """Record why a run ended, and undo what it did on the nodes.

    Returns:
        A sentence for each thing that could not be undone.
    """
    ctx.reporter.phase("ending what this run started")
    failures = await clean_up(ctx)
    for failure in failures:
        ctx.reporter.say(f"Not undone: {failure}")
    ctx.journal.append(kind, message=message, not_undone=list(failures))
    return failures
