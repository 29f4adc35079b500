"""What tests know of nodes, stores and earlier runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kvtui.ceilings import Ceiling, What
from kvtui.check import Known, Measured, MeasuredTier
from kvtui.kvsize import kv_shape
from kvtui.nodefacts import Mount, MountKind, NodeFacts
from kvtui.plan import Plan, Tier, TierKind, Topology, load_plan, validated
from kvtui.recordings import PLANS
from kvtui.storefacts import StoreFacts
from tests.kvtui.models import QWEN_7B

GIB = 1024**3
QWEN = kv_shape(QWEN_7B, "config.json")


def facts(
    name: str = "gpu-a",
    *,
    hostname: str | None = None,
    ram_gib: float | None = None,
    free_gib: float | None = None,
    mounts: tuple[Mount, ...] | None = None,
    versions: Mapping[str, str] | None = None,
) -> NodeFacts:
    """A node of which only so much is known."""
    unknown: dict[str, Any] = dict.fromkeys(NodeFacts.__slots__)
    known = {
        "name": name,
        "hostname": hostname,
        "read_wall_s": 0.0,
        "ram_total_bytes": None if ram_gib is None else int(ram_gib * GIB),
        "ram_available_bytes": None if free_gib is None else int(free_gib * GIB),
        "mounts": mounts,
        "versions": versions or {},
        "engine_problem": "",
    }
    return NodeFacts(**{**unknown, **known})


def mount(path: str, kind: MountKind = "nvme", size_gib: float = 1000, free_gib: float = 900) -> Mount:
    """A mounted file system."""
    return Mount(path, "/dev/x", "xfs", kind, int(size_gib * GIB), int(free_gib * GIB))


def ceiling(
    node: str, what: What, bytes_s: float, target: str = "", how: str = "direct, 4 threads"
) -> Ceiling:
    """A ceiling without spread."""
    return Ceiling(node, what, how, bytes_s, bytes_s, bytes_s, 3, 14_680_064, 4, "kvtui", target, 0.0)


def store(**known: Any) -> StoreFacts:
    """A store of which only so much is known."""
    return StoreFacts(address="valkey:6379", read_wall_s=0.0, **known)


def seed_plan(**changes: Any) -> Plan:
    """The seed benchmark, with parts of it exchanged."""
    return changed(load_plan(PLANS / "seed.toml"), **changes)


def changed(plan: Plan, **changes: Any) -> Plan:
    """A plan with fields of its parts exchanged: ``corpus={"documents": 3}``, ``tiers=(…)``."""
    update = {
        part: getattr(plan, part).model_copy(update=value)
        if isinstance(value, dict) and part not in ("nodes",)
        else value
        for part, value in changes.items()
    }
    return validated(plan.model_copy(update=update))


def with_capacity(plan: Plan, name: str, capacity_gib: float) -> Plan:
    """A plan with one tier's capacity changed."""
    tiers = tuple(
        tier.model_copy(update={"capacity_gib": capacity_gib}) if tier.name == name else tier
        for tier in plan.tiers
    )
    return changed(plan, tiers=tiers)


def tier(kind: TierKind, capacity_gib: float | None = None, **fields: Any) -> Tier:
    """A tier named after its kind."""
    path = "/mnt/nvme/kv" if kind is TierKind.DISK else None
    return Tier(name=kind.value, kind=kind, capacity_gib=capacity_gib, **{"path": path, **fields})


H200_MS = {
    TierKind.NONE: (252.0, 252.0, 0),
    TierKind.DRAM: (303.0, 82.0, 30),
    TierKind.DISK: (326.0, 403.0, 30),
    TierKind.VALKEY: (428.0, 229.0, 30),
}
"""Cold and cached medians of the seed's plan on one H200, and documents reused whole."""


def h200(**changes: Any) -> Measured:
    """The run on one H200 as an earlier run of the seed's plan."""
    name = load_plan(PLANS / "seed.toml").model.served_name
    tiers = tuple(
        MeasuredTier(kind.value, kind, Topology.SINGLE, cold, cached, reused, 30)
        for kind, (cold, cached, reused) in H200_MS.items()
    )
    return Measured(
        **{
            "run": "h200",
            "model": name,
            "documents": 30,
            "tokens": 10_000,
            "tiers": tiers,
            "none_ms": 252.0,
            **changes,
        }
    )


def h200_plan() -> Plan:
    """The seed's plan as it ran on one H200, in four tiers."""
    kinds = {TierKind.NONE: None, TierKind.DRAM: 24, TierKind.DISK: 100, TierKind.VALKEY: 48}
    plan = seed_plan(tiers=tuple(tier(kind, size) for kind, size in kinds.items()))
    return changed(plan, passes={"topologies": (Topology.SINGLE,)})


H200_DISK = ceiling("gpu-a", "disk-read", 1.64e9, "/mnt/nvme/kv", "direct, 16 threads")
NOTHING = Known()
