"""What disks, network and memory of the nodes can do, known before the first request of a run."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import replace

from kvtui.campaign.ceiling_measuring import Kind, Measuring, measure_node
from kvtui.campaign.context import Context
from kvtui.campaign.layout import expand_home
from kvtui.ceilings import Ceiling, from_json
from kvtui.findings import Finding, Level
from kvtui.fit import working_set_bytes
from kvtui.kvsize import KvShape
from kvtui.plan import TierKind

# A machine changes from one day to the next: neighbours, firmware, other people's disks.
MAX_AGE_S = 24 * 3600.0
# A run does not keep people waiting; `kvtui nodes probe --ceilings` takes its time.
_SLICE_S = 0.5
_LEAST_BYTES = 256 * 1024**2
_MOST_BYTES = 2 * 1024**3
_WHAT: dict[Kind, str] = {"memory": "memory", "disk": "disk-read", "network": "network"}


def known(ctx: Context) -> tuple[Ceiling, ...]:
    """The ceilings that were known when the run was made."""
    try:
        rows = json.loads(ctx.record.ceilings.read_text(encoding="utf-8"))
    except OSError:
        return ()
    return tuple(from_json(row) for row in rows)


def missing(
    ceilings: Iterable[Ceiling], node: str, measuring: Measuring, kinds: Iterable[Kind], now_wall_s: float
) -> tuple[Kind, ...]:
    """The kinds that were never measured in this way on a node, or too long ago.

    Args:
        ceilings: What is known.
        node: The node.
        measuring: What the run would measure with, its directory absolute.
        kinds: The kinds that the run wants.
        now_wall_s: The time.
    """
    targets: dict[Kind, str] = {
        "memory": "",
        "disk": measuring.directory,
        "network": f"{measuring.store_address}:{measuring.store_port}",
    }
    fresh = {
        (ceiling.what, ceiling.target)
        for ceiling in ceilings
        if ceiling.node == node
        and ceiling.chunk_bytes == measuring.chunk_bytes
        and ceiling.age_s(now_wall_s) < MAX_AGE_S
    }
    return tuple(kind for kind in kinds if (_WHAT[kind], targets[kind]) not in fresh)


def _measuring(ctx: Context, shape: KvShape, node: str) -> tuple[Measuring, tuple[Kind, ...]]:
    """What a run wants to know of an engine's node."""
    plan, target, home = ctx.plan, ctx.target, ctx.homes[node]
    disks = [tier.path for tier in plan.tiers if tier.kind is TierKind.DISK and tier.path]
    workers = [tier.workers for tier in plan.tiers if tier.kind is TierKind.VALKEY]
    limit = min(max(working_set_bytes(plan, shape), _LEAST_BYTES), _MOST_BYTES)
    kinds: list[Kind] = []
    if any(tier.kind is TierKind.DRAM for tier in plan.tiers):
        kinds.append("memory")
    if disks:
        kinds.append("disk")
    if plan.needs_store:
        kinds.append("network")
    measuring = Measuring(
        chunk_bytes=shape.chunk_bytes(plan.hash.chunk_tokens),
        directory=expand_home(disks[0], home) if disks else "",
        store_address=target.store_address,
        store_port=target.store_port,
        store_password=ctx.store_password,
        workers=max(workers, default=1),
        engine_python=expand_home(target.engine_python[node], home),
        disk_limit_bytes=limit,
        store_limit_bytes=min(limit, _LEAST_BYTES),
        disk_slice_s=_SLICE_S,
        slice_s=_SLICE_S,
    )
    return measuring, tuple(kinds)


async def ensure(ctx: Context, shape: KvShape) -> None:
    """Record what the engines' nodes can do; what is unknown or old is measured now, node after node.

    Nodes may share a disk or a store, so no two are measured at once. What cannot be measured is told of,
    and the run goes on without it.
    """
    have = known(ctx)
    for node in ctx.plan.engine_nodes:
        measuring, kinds = _measuring(ctx, shape, node)
        wanted = missing(have, node, measuring, kinds, time.time())
        measured = await measure_node(
            ctx.links[node], measuring, wanted, ctx.reporter.phase, ctx.links.get(ctx.target.store_node)
        )
        have += measured.ceilings
        if ctx.target.lab:
            have += _of_one_machine(ctx, measured.ceilings, measuring.directory)
        for ceiling in fitting(have, node, measuring):
            ctx.journal.append("ceiling", **ceiling.to_json())
        for failure in measured.failures:
            text = f"Not all of what {node} can do was measured. {failure.message}"
            ctx.find(Finding(Level.INFO, "ceiling-not-measured", text, failure.hint, node))


def _of_one_machine(ctx: Context, measured: Iterable[Ceiling], directory: str) -> tuple[Ceiling, ...]:
    """The same for the lab's other engine nodes, which are this machine too, each with its own directory."""
    found = []
    for node in ctx.plan.engine_nodes:
        own = directory.replace(ctx.homes[ctx.plan.engine_nodes[0]], ctx.homes[node], 1)
        for ceiling in measured:
            if ceiling.node != node:
                target = own if ceiling.target == directory else ceiling.target
                found.append(replace(ceiling, node=node, target=target))
    return tuple(found)


def fitting(ceilings: Iterable[Ceiling], node: str, measuring: Measuring) -> tuple[Ceiling, ...]:
    """Of each way of measuring this node's own places with chunks of this size, the latest."""
    targets = {measuring.directory, f"{measuring.store_address}:{measuring.store_port}", ""}
    latest = {
        (ceiling.what, ceiling.how, ceiling.target): ceiling
        for ceiling in sorted(ceilings, key=lambda ceiling: ceiling.measured_wall_s)
        if (ceiling.node, ceiling.chunk_bytes) == (node, measuring.chunk_bytes) and ceiling.target in targets
    }
    return tuple(latest.values())
