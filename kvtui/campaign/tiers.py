"""A tier's contents: emptied before a block, settled after a cold pass, made cold before a cached one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from corpus.chunks import different_chunks
from corpus.tokens import TokenDocument
from kvtui.campaign.context import Context, each
from kvtui.campaign.layout import key_ending, tag
from kvtui.campaign.steps import Block, block_nodes, gated
from kvtui.findings import Finding, Level
from kvtui.fit import capacity_bytes, kept_chunks, plan_scan
from kvtui.plan import Tier, TierKind
from remote.store import Store, open_store

# LMCache 0.5.4 names a chunk's file after its key (v1/storage_backend/local_disk_backend.py).
DISK_SUFFIX = ".pt"
_POLL_S = 0.5
# Writes that make no progress for so long are not in flight any more.
_PATIENCE_S = 10.0


@asynccontextmanager
async def store_of(ctx: Context) -> AsyncIterator[Store]:
    """A client of the plan's store."""
    target = ctx.target
    link = ctx.links[target.store_node]
    async with open_store(link, target.store_address, target.store_port, ctx.store_password) as store:
        yield store


def disk_dir(ctx: Context, tier: Tier, node: str) -> str:
    """The run's own folder of a disk tier on a node."""
    return ctx.layout(node).disk_dir(tier.path or "")


async def remove_keys(ctx: Context) -> int:
    """Remove this run's keys from the store, and no others; how many there were."""
    async with store_of(ctx) as store:
        return await store.remove_keys(key_ending(ctx.run + ".*"))


async def remove_files(ctx: Context, tier: Tier, node: str) -> int:
    """Remove this run's files of a disk tier from a node, and no others; how many there were."""
    answer = await ctx.links[node].agent(
        "remove-files", dir=disk_dir(ctx, tier, node), contains=key_ending(ctx.run)
    )
    return int(answer["removed"])


async def remove_own(ctx: Context, block: Block) -> dict[str, Any]:
    """Remove what this run has left in a tier; DRAM needs nothing, it goes with the engine."""
    tier = ctx.tier(block)
    if tier.kind is TierKind.VALKEY:
        return {"removed_keys": await remove_keys(ctx)}
    if tier.kind is TierKind.DISK:

        async def one(node: str) -> int:
            return await remove_files(ctx, tier, node)

        return {"removed_files": await each(block_nodes(ctx.plan, block), one)}
    return {}


async def remove_tagged(ctx: Context, block: Block, purpose: str) -> None:
    """Remove the keys of one purpose from the store, so that they take no part of its capacity."""
    if ctx.tier(block).kind is TierKind.VALKEY:
        async with store_of(ctx) as store:
            await store.remove_keys(key_ending(tag(ctx.run, block.name, ctx.attempt(block), purpose)))


def expected_chunks(ctx: Context, block: Block, documents: Sequence[TokenDocument], purpose: str = "") -> int:
    """Chunks of all ranks that the tier should hold after a cold pass: all, or as many as fit.

    After the measured pass a disk tier may still hold some of the gate and the warm-up, by its policy.
    """
    tier, shape = ctx.tier(block), ctx.shape
    chunks = different_chunks([one.token_ids for one in documents], ctx.plan.hash.chunk_tokens)
    if shape is None or tier.capacity_gib is None:
        return chunks
    fitting = capacity_bytes(tier.capacity_gib) // shape.chunk_bytes(ctx.plan.hash.chunk_tokens)
    if tier.kind is TierKind.DISK and not purpose:
        scan = plan_scan(ctx.plan, gated=bool(gated(ctx.plan, block, shape)))
        fitting = max(0, fitting - kept_chunks(tier.policy, scan))
    if tier.kind is not TierKind.VALKEY:
        fitting *= shape.storing_ranks  # each rank has the capacity for itself
    return min(chunks * shape.storing_ranks, fitting)


async def settle(
    ctx: Context, block: Block, purpose: str, documents: Sequence[TokenDocument]
) -> dict[str, Any]:
    """Wait until the stores of a cold pass have arrived, or make no progress any more.

    Writes may still be in flight when a request ends, so a fixed sleep would prove nothing. DRAM alone has
    everything when the request ends.
    """
    tier = ctx.tier(block)
    ending = key_ending(tag(ctx.run, block.name, ctx.attempt(block), purpose))
    expected = expected_chunks(ctx, block, documents, purpose)
    if tier.kind is TierKind.VALKEY:
        async with store_of(ctx) as store:
            return await _until_arrived(ctx, block, expected, lambda: store.count_keys(ending))
    if tier.kind is TierKind.DISK:
        node = ctx.plan.passes.cold_node
        directory = disk_dir(ctx, tier, node)

        async def files() -> int:
            # A chunk's file is there before it is full: count whole files by their bytes.
            answer = await ctx.links[node].agent("files", dir=directory, contains=ending + DISK_SUFFIX)
            size = ctx.shape.chunk_bytes(ctx.plan.hash.chunk_tokens) if ctx.shape else 0
            return int(answer["bytes"]) // size if size else int(answer["count"])

        return await _until_arrived(ctx, block, expected, files)
    return {}


async def _until_arrived(
    ctx: Context, block: Block, expected: int, count: Callable[[], Awaitable[int]]
) -> dict[str, Any]:
    started_s = progress_s = time.monotonic()
    arrived = await count()
    while arrived < expected and time.monotonic() - progress_s < _PATIENCE_S:
        ctx.reporter.phase(f"{block.words}: {arrived} of {expected} chunks have arrived")
        await asyncio.sleep(_POLL_S)
        before, arrived = arrived, await count()
        if arrived != before:
            progress_s = time.monotonic()
    waited_s = time.monotonic() - started_s
    if arrived < expected:
        text = f"Only {arrived} of {expected} chunks arrived in the tier within {waited_s:.0f} s."
        remedy = "Look for refused writes in the engine's log, and for the tier's free space."
        ctx.find(Finding(Level.WARNING, "stores-missing", text, remedy, block.words))
    return {"chunks": arrived, "expected": expected, "waited_s": round(waited_s, 2)}


async def make_cold(ctx: Context, block: Block, node: str) -> dict[str, Any]:
    """Drop the run's own files of a disk tier from the page cache, with the proof."""
    tier = ctx.tier(block)
    if tier.kind is not TierKind.DISK:
        return {}
    answer = await ctx.links[node].agent(
        "make-cold", dir=disk_dir(ctx, tier, node), contains=key_ending(ctx.run), timeout_s=300
    )
    left = answer["resident_pages_after"]
    if left:
        text = f"{left} pages of the tier's files stay in the page cache, so the pass reads some from memory."
        ctx.find(Finding(Level.WARNING, "page-cache-warm", text, "", f"{block.words} on {node}"))
    return {
        name: answer[name]
        for name in ("files", "resident_pages_before", "resident_pages_after", "dropped_caches")
    }
