"""The watcher of each node: started with the run, read all the time, ended with it."""

from __future__ import annotations

import json

from kvtui.campaign import merging
from kvtui.campaign.context import Context
from kvtui.findings import Finding, Level
from kvtui.run_state import ENDS
from remote.errors import AgentError
from remote.link import program_argv
from remote.process import Process


def _life(ctx: Context) -> str:
    """Tells the watchers of a run that was taken up again after its end from those before it."""
    ends = sum(1 for kind in ENDS for _ in ctx.journal.of_kind(kind))
    return f".{ends + 1}" if ends else ""


def source(ctx: Context, node: str) -> str:
    """Name of a watcher's file in the record."""
    return f"{node}:watch{_life(ctx)}"


def process(ctx: Context, node: str) -> Process:
    """The watcher of a node."""
    return Process(ctx.links[node], f"{ctx.layout(node).root}/watch{_life(ctx)}")


def _samples(ctx: Context, node: str) -> str:
    return f"{process(ctx, node).dir}/samples.jsonl"


async def keep(ctx: Context, node: str) -> None:
    """Start the watcher of a node, or find it running, and claim it; a run does not fail for want of one."""
    watcher = process(ctx, node)
    job = {"v": 1, "samples": _samples(ctx, node), "root": ctx.layout(node).root}
    try:
        await ctx.links[node].upload(json.dumps(job).encode(), f"{watcher.dir}/job.json")
        argv = await program_argv(ctx.links[node], "watch", f"{watcher.dir}/job.json")
        await watcher.start(argv, env={}, marker=ctx.run, lease_s=ctx.lease_s, again=True)
        await watcher.renew()
    except AgentError as error:
        text = f"Its load is not recorded: {error.message}"
        ctx.find(Finding(Level.INFO, "not-watched", text, "", node))


async def merge_on(ctx: Context, node: str) -> None:
    """Merge a node's samples as they come.

    Raises:
        RemoteError: The node cannot be asked any more.
    """
    await merging.merge_on(ctx.journal, ctx.links[node], _samples(ctx, node), source(ctx, node))


async def merge(ctx: Context, node: str) -> None:
    """Merge what of a node's samples is not merged yet."""
    await merging.merge(ctx.journal, ctx.links[node], _samples(ctx, node), source(ctx, node))


async def finish(ctx: Context, node: str) -> None:
    """End the watcher of a node, prove it, and keep its last samples."""
    await process(ctx, node).stop(0)
    await merge(ctx, node)
