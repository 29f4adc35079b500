"""Whether the documents fit each tier, what limits it, and what a cached pass will find there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from kvtui.check.assessment import TierFit
from kvtui.check.known import Known
from kvtui.check.limits import Room, disk_rooms, mount_of, ram_rooms, store_capacity_bytes
from kvtui.check.words import gib, number
from kvtui.findings import Finding, Level
from kvtui.fit import (
    GIB,
    Reuse,
    Scan,
    capacity_bytes,
    gate_passes,
    least_gib,
    plan_scan,
    predict,
    smallest_capacity_bytes,
)
from kvtui.kvsize import KvShape
from kvtui.plan import Order, Plan, Policy, Tier, TierKind, Topology

# A keystroke changes one tier; the others are not played through again.
_predict = lru_cache(maxsize=512)(predict)
_MOUNTS = {
    "memory": "lies in memory, so it measures DRAM, and its files are gone with the next start",
    "overlay": "is a container's overlay, and nobody can tell which device is below it",
    "network": "is a network file system, so it measures the network and what is behind it",
}


def tier_fit(plan: Plan, tier: Tier, shape: KvShape | None, known: Known) -> TierFit:
    """The fit of one tier.

    Raises:
        PlanError: An option in ``extra_args`` has a value that the engine cannot take.
    """
    limit_gib, limit_of = _limit(plan, tier, shape, known)
    capacity = needed = smallest = None
    reuse: dict[Topology, Reuse] = {}
    if tier.capacity_gib is not None:
        ranks = _ranks(tier, shape)
        capacity = capacity_bytes(tier.capacity_gib) * ranks
        if shape is not None:
            smallest_bytes = smallest_capacity_bytes(tier, plan_scan(plan), shape)
            needed, smallest = smallest_bytes * ranks, least_gib(smallest_bytes)
    if shape is not None or tier.kind is TierKind.NONE:
        reuse = {topology: _reuse(plan, tier, topology, shape, known) for topology in plan.passes.topologies}
    return TierFit(
        tier=tier.name,
        kind=tier.kind,
        capacity_bytes=capacity,
        needed_bytes=needed,
        reuse=reuse,
        reason=_reason(plan, tier, shape, reuse, smallest),
        smallest_gib=smallest,
        limit_gib=limit_gib,
        limit_of=limit_of,
    )


def _ranks(tier: Tier, shape: KvShape | None) -> int:
    return 1 if shape is None or tier.kind is TierKind.VALKEY else shape.storing_ranks


def _reuse(plan: Plan, tier: Tier, topology: Topology, shape: KvShape | None, known: Known) -> Reuse:
    if shape is None or tier.kind is TierKind.NONE:
        return Reuse(0, 0, plan.corpus.documents)
    scan: Scan = plan_scan(plan, gated=gate_passes(plan, tier, topology, shape))
    if tier.kind is not TierKind.VALKEY:
        return _predict(tier, topology, scan, shape)[0]
    held = tier.model_copy(update={"capacity_gib": store_capacity_bytes(tier, known) / GIB})
    policy = known.store.policy if known.store else None
    return _predict(held, topology, scan, shape, policy or "noeviction")[0]


def _limit(plan: Plan, tier: Tier, shape: KvShape | None, known: Known) -> tuple[float | None, str]:
    rooms: tuple[Room, ...] = ()
    if tier.kind is TierKind.DRAM:
        rooms = ram_rooms(plan, tier, shape, known)
    elif tier.kind is TierKind.DISK:
        rooms = disk_rooms(plan, tier, shape, known)
    elif tier.kind is TierKind.VALKEY and known.store:
        free, memory = known.store.free_bytes, known.store.host_memory_bytes
        if free is not None:
            return free * 100 // GIB / 100, "maxmemory of the store, less what it holds"
        if memory is not None:
            return memory * 90 // GIB / 100, "memory of the store's machine"
    if not rooms:
        return None, ""
    room = min(rooms, key=lambda room: room.limit_gib)
    return room.limit_gib, f"{room.what} of {room.node}"


def _reason(
    plan: Plan, tier: Tier, shape: KvShape | None, reuse: dict[Topology, Reuse], smallest: float | None
) -> str:
    if tier.kind is TierKind.NONE:
        return "Nothing is kept: the engine runs without LMCache, as the baseline."
    if shape is None or smallest is None:
        return "Nobody can tell, since the size of the model's KV is not known."
    if plan.corpus.prompt_tokens < plan.hash.chunk_tokens:
        return (
            f"Nothing is stored: documents of {plan.corpus.prompt_tokens:,} tokens are shorter than "
            f"a chunk of {plan.hash.chunk_tokens:,}."
        )
    local = "" if tier.kind is TierKind.VALKEY else ", on the node that stored them"
    here = reuse.get(Topology.SINGLE) or next(iter(reuse.values()))
    if tier.kind is not TierKind.VALKEY and Topology.SINGLE not in reuse:
        return "A tier of one node gives nothing to another node."
    if here.certain:
        return f"All {here.of} documents fit and are found again{local}."
    each = " a rank" if shape.storing_ranks > 1 and tier.kind is not TierKind.VALKEY else ""
    return f"{_why_not(plan, tier, here)} {number(smallest)} GiB{each} keep all {here.of}."


def _why_not(plan: Plan, tier: Tier, reuse: Reuse) -> str:
    if tier.kind is TierKind.VALKEY:
        if reuse.refused:
            return f"The store is full before all documents are in it and refuses the rest: {reuse} found."
        return f"The store is too small and gives up keys that it picks by chance: {reuse} found."
    circle = plan.passes.order is Order.SAME and tier.policy in (Policy.LRU, Policy.FIFO)
    if circle and reuse.high == 0:
        return (
            "The documents go in a circle, so each is evicted just before it is asked for again: "
            f"{reuse} found, not a part of them."
        )
    if tier.kind is TierKind.DISK and tier.policy is Policy.LFU and reuse.low < reuse.high:
        return (
            "Not all documents fit at once, and LFU then gives up chunks that it is just writing, which may "
            f"end the engine with a KeyError (LMCache 0.5.4): {reuse} found. LRU has no such fault."
        )
    return f"Not all documents fit at once; {tier.policy} and the order {plan.passes.order} leave {reuse}."


def fit_findings(plan: Plan, fit: TierFit, shape: KvShape | None, known: Known) -> tuple[Finding, ...]:
    """What is to be said of one tier, in a stable order."""
    tier = plan.tier(fit.tier)
    return (
        *_too_small(plan, fit),
        *_beyond(tier, ram_rooms(plan, tier, shape, known), "ram"),
        *_beyond(tier, disk_rooms(plan, tier, shape, known), "disk"),
        *_mounts(plan, tier, known),
    )


def _too_small(plan: Plan, fit: TierFit) -> Iterator[Finding]:
    if fit.kind is TierKind.NONE or not fit.reuse or plan.corpus.prompt_tokens < plan.hash.chunk_tokens:
        return
    wanted = [
        reuse
        for topology, reuse in fit.reuse.items()
        if topology is Topology.SINGLE or fit.kind is TierKind.VALKEY
    ]
    if wanted and not all(reuse.certain for reuse in wanted) and fit.smallest_gib is not None:
        remedy = f"Set capacity_gib = {number(fit.smallest_gib)}, or plan fewer documents."
        yield Finding(Level.WARNING, "capacity-too-small", fit.reason, remedy, fit.tier)


def _beyond(tier: Tier, rooms: Iterable[Room], code: str) -> Iterator[Finding]:
    # Beside other tiers LMCache's buffer takes RAM too, which no capacity_gib changes.
    buffer = code == "ram" and tier.kind is not TierKind.DRAM
    what, begins = ("LMCache's buffer", "buffer") if buffer else ("The tier", "capacity")
    for room in rooms:
        parts = "" if room.shares == 1 else f" ({room.shares} × {gib(room.taken_bytes // room.shares)})"
        takes = f"{what} takes {gib(room.taken_bytes)}{parts} on {room.node}, whose {room.what}"
        remedy = f"{number(room.limit_gib)} GiB is the most that leaves a tenth free."
        if buffer:
            remedy = "Plan shorter documents, or a machine with more memory."
        if room.left_bytes < 0:
            text = f"{takes} has {gib(room.free_bytes)} free of {gib(room.total_bytes)}."
            yield Finding(Level.BLOCKING, f"{begins}-beyond-{code}", text, remedy, tier.name)
        elif room.tight:
            text = f"{takes} is left with {gib(room.left_bytes)} of {gib(room.total_bytes)}, under a tenth."
            yield Finding(Level.WARNING, f"{begins}-leaves-little-{code}", text, remedy, tier.name)


def _mounts(plan: Plan, tier: Tier, known: Known) -> Iterator[Finding]:
    if tier.kind is not TierKind.DISK:
        return
    for node in plan.engine_nodes:
        mount = mount_of(tier, node, known)
        if mount and mount.kind in _MOUNTS:
            text = f"{tier.path} on {node} ({mount.fstype} at {mount.path}) {_MOUNTS[mount.kind]}."
            yield Finding(Level.WARNING, "disk-tier-mount", text, "Name a folder on a local disk.", tier.name)
