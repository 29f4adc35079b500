"""Rows about the plan as a whole: what its assessment says, and which ceilings it would be judged by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kvtui.ceilings import Ceiling, What, best
from kvtui.check import Assessment, Known, Sharing
from kvtui.findings import Finding, Level
from kvtui.plan import Plan, TierKind
from kvtui.preflight.row import CheckRow, State, state_of
from kvtui.units import age, gib, rate

# A run measures again what is older.
OLD_S = 86400.0
_KEYS = ("hash-seed-differs", "hash-seed-free", "hash-builtin", "keys-differ")
_WANTED: dict[TierKind, What] = {
    TierKind.DRAM: "memory",
    TierKind.DISK: "disk-read",
    TierKind.VALKEY: "network",
}
_SHORT: dict[What, str] = {"memory": "RAM", "disk-read": "disk", "network": "net", "disk-write": "disk write"}


def size_row(found: Assessment) -> CheckRow:
    """How large the KV of the documents is."""
    finding = next((one for one in found.findings if one.code == "kv-size-unknown"), None)
    title = "KV size known"
    if found.kv is None:
        return CheckRow("kv-size", title, "", state_of(finding) if finding else State.UNKNOWN, "", finding)
    kv = found.kv
    measured = f"{kv.token_bytes:,} B a token, {gib(kv.working_set_bytes)} in all"
    return CheckRow("kv-size", title, "", state_of(finding), measured, finding)


def sharing_row(plan: Plan, found: Assessment) -> CheckRow:
    """Whether the nodes will make the same keys."""
    title = "seed, hash: keys shared"
    seeds = dict.fromkeys(plan.hash.seed_for(node) for node in plan.engine_nodes)
    said = " against ".join("unset" if seed is None else seed or "empty" for seed in seeds)
    finding = next((one for one in found.findings if one.code in _KEYS), None)
    measured = f"seed {said}, {plan.hash.algorithm}"
    unknown = finding is None and found.sharing is not None and found.sharing.verdict is Sharing.UNKNOWN
    return CheckRow("sharing", title, "", State.UNKNOWN if unknown else state_of(finding), measured, finding)


def fit_rows(found: Assessment) -> tuple[CheckRow, ...]:
    """What a cached pass will find in each tier."""
    rows = []
    for fit in found.fits:
        if fit.kind is TierKind.NONE:
            continue
        finding = next(
            (one for one in found.findings if (one.code, one.where) == ("capacity-too-small", fit.tier)), None
        )
        reuse = ", ".join(f"{topology} {one}" for topology, one in fit.reuse.items())
        measured = f"{gib(fit.capacity_bytes)}: {reuse}" if reuse else gib(fit.capacity_bytes)
        state = state_of(finding) if fit.reuse or finding else State.UNKNOWN
        rows.append(CheckRow(f"fit:{fit.tier}", f"{fit.tier}: documents fit", "", state, measured, finding))
    return tuple(rows)


def rest_rows(found: Assessment, told: Iterable[CheckRow]) -> tuple[CheckRow, ...]:
    """What else the assessment says, and no row has said yet; news without a level of warning is left out."""
    said = {row.finding for row in told}
    seen: Counter[tuple[str, str]] = Counter()
    rest = []
    for one in found.findings:
        if one in said or one.level is Level.INFO:
            continue
        seen[one.code, one.where] += 1
        # A tier may have the name of a node, and both the same trouble.
        number = seen[one.code, one.where]
        row_id = f"plan:{one.code}:{one.where}" + (f":{number}" if number > 1 else "")
        title = f"plan: {one.code.replace('-', ' ')}"
        rest.append(CheckRow(row_id, title, "", state_of(one), one.where, one))
    return tuple(rest)


def ceiling_row(plan: Plan, node: str, known: Known, now_wall_s: float) -> CheckRow:
    """Whether what the node's disk, network and memory can do was measured, and when."""
    title = "ceilings measured"
    wanted = dict.fromkeys(_WANTED[tier.kind] for tier in plan.tiers if tier.kind in _WANTED)
    if not wanted:
        return CheckRow("ceilings", title, node, State.SKIPPED, "none needed")
    found = {what: best(known.ceilings, node, what) for what in wanted}
    missing = [_SHORT[what] for what, ceiling in found.items() if ceiling is None]
    measured = [ceiling for ceiling in found.values() if ceiling is not None]
    fix = f"Measure disk, network and memory of {node}; that takes up to two minutes."
    if missing:
        text = f"Not measured: {', '.join(missing)}. The run measures before its first request, or now."
        finding = Finding(Level.INFO, "ceiling-unknown", text, "", node)
        return CheckRow("ceilings", title, node, State.UNKNOWN, f"not: {', '.join(missing)}", finding, fix)
    return _aged(title, node, measured, fix, now_wall_s)


def _aged(title: str, node: str, measured: list[Ceiling], fix: str, now_wall_s: float) -> CheckRow:
    oldest_s = max(ceiling.age_s(now_wall_s) for ceiling in measured)
    rates = ", ".join(f"{_SHORT[ceiling.what]} {rate(ceiling.bytes_s)}" for ceiling in measured)
    finding = None
    if oldest_s > OLD_S:
        text = f"The oldest ceiling was measured {age(oldest_s)}. The run measures it again, or now."
        finding = Finding(Level.INFO, "ceiling-old", text, "", node)
    return CheckRow(
        "ceilings",
        title,
        node,
        state_of(finding),
        f"{rates}, {age(oldest_s)}",
        finding,
        fix if finding else "",
    )
