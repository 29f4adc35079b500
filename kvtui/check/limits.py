"""What the machines can give a tier: RAM of a host, free space of a mount, memory of the store."""

from __future__ import annotations

from dataclasses import dataclass

from kvtui.check.known import Known
from kvtui.fit import GIB, capacity_bytes, staging_gib
from kvtui.kvsize import KvShape
from kvtui.nodefacts import Mount, NodeFacts
from kvtui.plan import Plan, Tier, TierKind

# A host that keeps less than this share free has nothing left for the engine, the page cache and itself.
SPARE = 0.1


@dataclass(frozen=True, slots=True)
class Room:
    """What one machine has for a tier, and what the tier takes of it.

    Attributes:
        node: The node, or the nodes that are one machine.
        what: What is limited, in words: ``RAM`` or a mount.
        total_bytes: All of it.
        free_bytes: What is free now.
        taken_bytes: What the tier takes on this machine.
        shares: How many equal parts ``taken_bytes`` has: one a rank and an engine.
    """

    node: str
    what: str
    total_bytes: int
    free_bytes: int
    taken_bytes: int
    shares: int

    @property
    def left_bytes(self) -> int:
        """What stays free; below 0 when it does not fit."""
        return self.free_bytes - self.taken_bytes

    @property
    def tight(self) -> bool:
        """Whether less than a tenth of the machine stays free."""
        return self.left_bytes < self.total_bytes * SPARE

    @property
    def limit_gib(self) -> float:
        """The largest ``capacity_gib`` that leaves the spare tenth, rounded down; 0 when there is none."""
        spare = self.free_bytes - int(self.total_bytes * SPARE)
        return max(0, spare * 100 // self.shares // GIB) / 100


def expand(path: str, home: str | None) -> str | None:
    """A path with its leading ``~`` replaced; ``None`` where the home directory is not known."""
    if path != "~" and not path.startswith("~/"):
        return path
    return None if home is None else home + path[1:]


def mount_of(tier: Tier, node: str, known: Known) -> Mount | None:
    """The mount that holds a disk tier on a node, where it is known."""
    facts = known.facts.get(node)
    path = expand(tier.path, known.homes.get(node)) if tier.path else None
    return facts.mount_of(path) if facts and path else None


def machines(plan: Plan, known: Known) -> tuple[tuple[str, ...], ...]:
    """The engine nodes, those together that are one machine; nodes whose hostname is unknown stand alone."""
    groups: dict[str, list[str]] = {}
    for node in plan.engine_nodes:
        facts = known.facts.get(node)
        name = f"host {facts.hostname}" if facts and facts.hostname else f"node {node}"
        groups.setdefault(name, []).append(node)
    return tuple(tuple(group) for group in groups.values())


def _ram(facts: NodeFacts) -> tuple[int, int] | None:
    if facts.ram_total_bytes is None:
        return None
    free = facts.ram_available_bytes
    return facts.ram_total_bytes, facts.ram_total_bytes if free is None else free


def ram_rooms(plan: Plan, tier: Tier, shape: KvShape | None, known: Known) -> tuple[Room, ...]:
    """RAM of each machine whose size is known; every rank of every engine allocates the buffer whole.

    ``max_local_cpu_size`` is each worker's own (LMCache 0.5.4 ``v1/storage_backend/local_cpu_backend.py``).
    """
    if tier.kind is TierKind.NONE or (shape is None and tier.kind is not TierKind.DRAM):
        return ()
    longest = shape.rank_bytes_per_token * plan.corpus.prompt_tokens if shape else 0
    buffer_bytes = capacity_bytes(staging_gib(tier, longest))
    ranks = shape.ranks if shape else 1
    found = []
    for group in machines(plan, known):
        facts = known.facts.get(group[0])
        ram = _ram(facts) if facts else None
        if ram is not None:
            shares = ranks * len(group)
            found.append(Room(" and ".join(group), "RAM", *ram, shares * buffer_bytes, shares))
    return tuple(found)


def disk_rooms(plan: Plan, tier: Tier, shape: KvShape | None, known: Known) -> tuple[Room, ...]:
    """The mount of a disk tier on each machine where it is known."""
    if tier.kind is not TierKind.DISK or tier.capacity_gib is None:
        return ()
    ranks = shape.storing_ranks if shape else 1
    found = []
    for group in machines(plan, known):
        mount = mount_of(tier, group[0], known)
        if mount and mount.size_bytes is not None and mount.free_bytes is not None:
            shares = ranks * len(group)
            taken = shares * capacity_bytes(tier.capacity_gib)
            what = f"mount {mount.path}"
            found.append(Room(" and ".join(group), what, mount.size_bytes, mount.free_bytes, taken, shares))
    return tuple(found)


def store_capacity_bytes(tier: Tier, known: Known) -> int:
    """What a Valkey tier has at most: the plan's figure, or what the server still takes if less."""
    wanted = capacity_bytes(tier.capacity_gib or 0)
    free = known.store.free_bytes if known.store else None
    return wanted if free is None else min(wanted, free)
