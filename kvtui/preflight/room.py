"""Rows about room on a node: RAM, disk, what the disk is, and whether its cache can be made cold."""

from __future__ import annotations

from collections.abc import Iterable

from kvtui.check import Assessment, Known
from kvtui.check.limits import Room, disk_rooms, machines, mount_of, ram_rooms
from kvtui.findings import Finding, Level
from kvtui.fit import capacity_bytes
from kvtui.kvsize import KvShape
from kvtui.plan import Plan, Tier, TierKind
from kvtui.preflight.row import CheckRow, State, state_of
from kvtui.units import gib

# LMCache counts what it writes, the file system also counts blocks and directories.
MARGIN = 1.2


def _tiers(plan: Plan, kind: TierKind) -> tuple[Tier, ...]:
    return tuple(tier for tier in plan.tiers if tier.kind is kind)


def _finding(found: Assessment, tier: str, endings: Iterable[str]) -> Finding | None:
    ends = tuple(endings)
    return next((one for one in found.findings if one.where == tier and one.code.endswith(ends)), None)


def ram_row(plan: Plan, node: str, shape: KvShape | None, known: Known, found: Assessment) -> CheckRow:
    """Whether the RAM holds what LMCache allocates: a DRAM tier, or the buffer beside another."""
    title = "RAM for tiers and buffers"
    worst: tuple[Room, Tier] | None = None
    for tier in plan.tiers:
        for room in ram_rooms(plan, tier, shape, known):
            if node in room.node.split(" and ") and (worst is None or room.left_bytes < worst[0].left_bytes):
                worst = room, tier
    if worst is None:
        cached = any(tier.kind is not TierKind.NONE for tier in plan.tiers)
        return CheckRow("ram", title, node, State.UNKNOWN if cached else State.SKIPPED, "unknown" * cached)
    room, tier = worst
    finding = _finding(found, tier.name, ["-ram"]) if room.left_bytes < 0 or room.tight else None
    measured = f"{gib(room.taken_bytes)} of {gib(room.free_bytes)} free"
    return CheckRow("ram", title, node, state_of(finding), measured, finding)


def disk_rows(
    plan: Plan, node: str, shape: KvShape | None, known: Known, found: Assessment
) -> tuple[CheckRow, ...]:
    """Whether each disk tier has room on a node, what it lies on, and whether it can be read cold."""
    rows: list[CheckRow] = []
    for tier in _tiers(plan, TierKind.DISK):
        rows.append(_free_row(plan, tier, node, shape, known, found))
        rows.append(_mount_row(tier, node, known, found))
        rows.append(_cold_row(tier, node, known))
    return tuple(rows)


def _free_row(
    plan: Plan, tier: Tier, node: str, shape: KvShape | None, known: Known, found: Assessment
) -> CheckRow:
    id_, title = f"disk:{tier.name}", f"{tier.name}: free ≥ {MARGIN:g} × plan"
    mount = mount_of(tier, node, known)
    if mount is None or mount.free_bytes is None:
        return CheckRow(id_, title, node, State.UNKNOWN, "unknown")
    room = next(
        (one for one in disk_rooms(plan, tier, shape, known) if node in one.node.split(" and ")), None
    )
    if room is not None and (room.left_bytes < 0 or room.tight):
        finding = _finding(found, tier.name, ["-disk"])
        measured = f"{gib(room.taken_bytes)} of {gib(room.free_bytes)} free"
        return CheckRow(id_, title, node, state_of(finding), measured, finding)
    writes = _writes(plan, tier, node, shape, known, found)
    if writes is None:
        return CheckRow(id_, title, node, State.UNKNOWN, f"{gib(mount.free_bytes)} free")
    finding = None
    if mount.free_bytes < writes * MARGIN:
        text = (
            f"{mount.path} has {gib(mount.free_bytes)} free; the run writes {gib(writes)}, "
            f"and {MARGIN:g} times as much should be free."
        )
        level = Level.BLOCKING if mount.free_bytes < writes else Level.WARNING
        finding = Finding(level, "disk-free", text, "Free some, or name another path.", node)
    sign = "≥" if mount.free_bytes >= writes * MARGIN else "<"
    measured = f"{gib(mount.free_bytes)} {sign} {gib(writes * MARGIN)}"
    return CheckRow(id_, title, node, state_of(finding), measured, finding)


def _writes(
    plan: Plan, tier: Tier, node: str, shape: KvShape | None, known: Known, found: Assessment
) -> int | None:
    """Most bytes that the tier's files have at once on the machine of a node."""
    if found.kv is None or tier.capacity_gib is None:
        return None
    engines = next(len(group) for group in machines(plan, known) if node in group)
    ranks = shape.storing_ranks if shape else 1
    return engines * min(found.kv.working_set_bytes, ranks * capacity_bytes(tier.capacity_gib))


def _mount_row(tier: Tier, node: str, known: Known, found: Assessment) -> CheckRow:
    id_, title = f"mount:{tier.name}", f"{tier.name}: on a local disk"
    mount = mount_of(tier, node, known)
    if mount is None:
        return CheckRow(id_, title, node, State.UNKNOWN, "unknown")
    finding = next(
        (
            one
            for one in found.findings
            if (one.code, one.where) == ("disk-tier-mount", tier.name) and f" on {node} " in one.text
        ),
        None,
    )
    state = State.UNKNOWN if finding is None and mount.kind == "unknown" else state_of(finding)
    return CheckRow(id_, title, node, state, f"{mount.kind}, {mount.fstype}", finding)


def _cold_row(tier: Tier, node: str, known: Known) -> CheckRow:
    id_, title = f"cold:{tier.name}", f"{tier.name}: can be read cold"
    mount, facts = mount_of(tier, node, known), known.facts.get(node)
    if mount is None or facts is None:
        return CheckRow(id_, title, node, State.UNKNOWN, "unknown")
    if mount.kind == "memory":
        text = f"{mount.path} lies in memory: its files cannot be put out of it before a cached pass."
        finding = Finding(Level.WARNING, "never-cold", text, "Name a folder on a local disk.", node)
        return CheckRow(id_, title, node, State.WARNING, "never", finding)
    if mount.kind == "network":
        return CheckRow(id_, title, node, State.UNKNOWN, "here, not on its server")
    return CheckRow(id_, title, node, State.OK, "whole cache" if facts.can_drop_caches else "own files")
