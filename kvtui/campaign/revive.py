"""After an attach: which blocks have lost their engines, and with them what their tiers held."""

from __future__ import annotations

from kvtui.campaign import engines
from kvtui.campaign.context import Context
from kvtui.campaign.steps import Block, Step, StepKind, block_nodes
from kvtui.campaign.undo import begun
from kvtui.run_state import ENDS


def _measured(ctx: Context, block: Block) -> bool:
    return all(ctx.done(Step(StepKind.CACHED, block, topology)) is not None for topology in block.topologies)


def _cleaned_up_since(ctx: Context, block: Block) -> bool:
    """Whether the run was ended, and so its engines with it, after this attempt was planned."""
    attempt, ended = ctx.attempt(block), False
    for event in ctx.journal.events:
        if event["kind"] == "engine_planned" and (event["block"], event["attempt"]) == (block.name, attempt):
            ended = False
        elif event["kind"] in ENDS:
            ended = True
    return ended


async def lost(ctx: Context, block: Block) -> bool:
    """Whether a block that is not over must be started anew."""
    planned = [event for event in ctx.journal.of_kind("engine_planned") if event["block"] == block.name]
    if not any(event["attempt"] == ctx.attempt(block) for event in planned):
        return False
    if ctx.done(Step(StepKind.STOP, block)) is not None or _measured(ctx, block):
        return False
    if _cleaned_up_since(ctx, block):
        return True
    nodes = block_nodes(ctx.plan, block)
    states = [(await engines.engine(ctx, block, node).status()).state for node in nodes]
    if ctx.done(Step(StepKind.ENGINES, block)) is not None:
        return any(state != "running" for state in states)
    return any(state in ("ended", "lost") for state in states)


async def revive(ctx: Context) -> None:
    """Start each block anew that has lost its engines: its tier went with them."""
    for block in begun(ctx):
        if await lost(ctx, block):
            await engines.stop(ctx, block)
            ctx.reporter.say(f"The engines of {block.words} are gone, so its passes are measured anew.")
            ctx.journal.append("block_restarted", block=block.name, reason="engines gone")
