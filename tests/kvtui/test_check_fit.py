"""What a tier's capacity comes to, and what the machine says to it."""

from __future__ import annotations

import pytest

from kvtui.check import Known, assess, fix
from kvtui.errors import PlanError
from kvtui.findings import Level
from kvtui.kvsize import KvShape
from kvtui.lab_plan import LAB_ENGINE_NODES
from kvtui.nodefacts import MountKind
from kvtui.plan import Order, Plan, Policy, TierKind, Topology
from kvtui.storefacts import StoreFacts
from remote.lab.paths import NODE_NAMES
from tests.kvtui.knowing import (
    GIB,
    NOTHING,
    QWEN,
    changed,
    facts,
    mount,
    seed_plan,
    store,
    tier,
    with_capacity,
)
from tests.kvtui.plans import lab_plan

S, F = Topology.SINGLE, Topology.FLEET


def codes(plan: Plan, known: Known, level: Level | None = None) -> list[tuple[str, str]]:
    found = assess(plan, known).findings
    return [(one.code, one.where) for one in found if level in (None, one.level)]


def dram(
    capacity_gib: float, *arguments: str, topologies: tuple[Topology, ...] = (S,), **fields: object
) -> Plan:
    plan = seed_plan(tiers=(tier(TierKind.DRAM, capacity_gib, **fields),))
    plan = changed(plan, passes={"topologies": topologies})
    return changed(plan, engine={"extra_args": arguments})


def on_host(free_gib: float, total_gib: float = 64) -> Known:
    return Known(facts={"gpu-a": facts(ram_gib=total_gib, free_gib=free_gib)}, shape=QWEN)


def test_eight_gib_of_dram_keep_none_of_sixteen_and_the_least_that_works_is_named() -> None:
    found = assess(dram(8), Known(shape=QWEN))
    fit = found.fit("dram")
    assert (str(fit.reuse[S]), fit.smallest_gib) == ("0/30", 15.9961)
    assert (fit.needed_bytes, fit.capacity_bytes) == (30 * 39 * 14_680_064, 8 * GIB)
    assert "circle" in fit.reason
    assert [(one.code, one.level, one.where) for one in found.findings] == [
        ("capacity-too-small", Level.WARNING, "dram")
    ]
    assert "15.9961" in found.findings[0].remedy
    assert not found.blocked


def test_a_capacity_that_keeps_all_is_said_so_and_found_fit() -> None:
    found = assess(dram(15.9961), Known(shape=QWEN))
    assert found.fit("dram").reason.startswith("All 30 documents fit")
    assert found.findings == ()
    assert found.kv is not None
    assert (found.kv.token_bytes, found.kv.document_chunks) == (57_344, 39)


def test_the_order_and_the_policy_change_what_is_found() -> None:
    known = Known(shape=QWEN)
    mru = assess(dram(8, policy=Policy.MRU), known).fit("dram")
    assert mru.reuse[S].low == 10
    assert "MRU" in mru.reason
    backwards = changed(dram(8), passes={"order": Order.REVERSED})
    assert assess(backwards, known).fit("dram").reuse[S].low > 0


def test_lfu_on_disk_that_may_end_the_engine_is_told_where_it_may() -> None:
    known = Known(shape=QWEN)
    plan = seed_plan(tiers=(tier(TierKind.DISK, 8, policy=Policy.LFU),))
    plan = changed(plan, passes={"topologies": (S,)})
    assert "KeyError" not in assess(plan, known).fit("disk").reason
    backwards = assess(changed(plan, passes={"order": Order.REVERSED}), known).fit("disk")
    assert "may end the engine with a KeyError" in backwards.reason
    assert str(backwards.reuse[S]) == "0–15/30"
    assert "KeyError" not in assess(dram(8, policy=Policy.LFU), known).fit("dram").reason


def test_zero_capacity_is_refused_as_it_is_typed() -> None:
    with pytest.raises(PlanError, match="capacity_gib"):
        with_capacity(dram(8), "dram", 0)


@pytest.mark.parametrize(
    ("free_gib", "code", "level"),
    [
        (23.9, "capacity-beyond-ram", Level.BLOCKING),
        (24.1, "capacity-leaves-little-ram", Level.WARNING),
        (30.3, "capacity-leaves-little-ram", Level.WARNING),
    ],
)
def test_capacity_is_held_against_the_hosts_ram(free_gib: float, code: str, level: Level) -> None:
    found = assess(dram(24), on_host(free_gib))
    assert [(one.code, one.level) for one in found.findings] == [(code, level)]
    assert found.blocked == (level is Level.BLOCKING)
    assert found.fit("dram").limit_gib == pytest.approx(free_gib - 6.4, abs=0.02)


def test_a_host_that_keeps_a_tenth_or_is_unknown_gives_no_finding() -> None:
    assert codes(dram(24), on_host(30.5)) == []
    assert codes(dram(24), Known(facts={"gpu-a": facts()}, shape=QWEN)) == []
    assert assess(dram(24), Known(shape=QWEN)).fit("dram").limit_gib is None


def test_every_rank_takes_the_capacity_once() -> None:
    known = Known(facts={"gpu-a": facts(ram_gib=512, free_gib=500)})
    found = assess(dram(100, "--tensor-parallel-size=8"), known).findings
    assert [(one.code, one.level) for one in found] == [("capacity-beyond-ram", Level.BLOCKING)]
    assert "800.0 GiB (8 × 100.0 GiB)" in found[0].text
    assert codes(dram(100), known) == []


def test_engines_on_one_machine_share_its_ram() -> None:
    both = {node: facts(node, hostname="one", ram_gib=64, free_gib=40) for node in ("gpu-a", "gpu-b")}
    apart = {**both, "gpu-b": facts("gpu-b", hostname="two", ram_gib=64, free_gib=40)}
    plan = dram(24, topologies=(S, F))
    assert codes(plan, Known(facts=both, shape=QWEN)) == [("capacity-beyond-ram", "dram")]
    assert codes(plan, Known(facts=apart, shape=QWEN)) == []


def disk(capacity_gib: float, path: str = "/mnt/nvme/kv", *arguments: str) -> Plan:
    plan = seed_plan(tiers=(tier(TierKind.DISK, capacity_gib, path=path),))
    plan = changed(plan, passes={"topologies": (S,)})
    return changed(plan, engine={"extra_args": arguments})


def mounted(kind: MountKind = "nvme", size_gib: float = 1000, free_gib: float = 900) -> Known:
    mounts = (mount("/"), mount("/mnt/nvme", kind, size_gib, free_gib))
    return Known(facts={"gpu-a": facts(mounts=mounts)}, homes={"gpu-a": "/mnt/nvme/home"}, shape=QWEN)


@pytest.mark.parametrize(
    ("free_gib", "wanted"),
    [
        (99, [("capacity-beyond-disk", "disk")]),
        (150, [("capacity-leaves-little-disk", "disk")]),
        (250, []),
    ],
)
def test_capacity_is_held_against_the_free_space_of_its_mount(
    free_gib: float, wanted: list[tuple[str, str]]
) -> None:
    assert codes(disk(100), mounted(free_gib=free_gib)) == wanted
    assert codes(disk(100, "~/kv"), mounted(free_gib=free_gib)) == wanted
    assert codes(disk(100, "/elsewhere"), mounted(free_gib=free_gib)) == []


def test_every_rank_fills_a_disk_of_its_own() -> None:
    known = Known(facts=mounted(size_gib=7000, free_gib=5000).facts)
    assert codes(disk(640, "/mnt/nvme/kv", "-tp", "8"), known) == [("capacity-beyond-disk", "disk")]
    assert codes(disk(640), known) == []


def test_the_buffer_beside_another_tier_takes_ram_too() -> None:
    long = changed(disk(100), engine={"max_model_len": 10**6}, corpus={"tokens": 200_000, "documents": 2})
    assert codes(long, on_host(40)) == [("buffer-beyond-ram", "disk")]
    assert codes(disk(100), on_host(40)) == []
    found = assess(long, on_host(40)).findings[0]
    assert fix(long, on_host(40), found) is None


@pytest.mark.parametrize("kind", ["memory", "overlay", "network"])
def test_a_disk_tier_that_is_no_disk_is_told(kind: MountKind) -> None:
    assert codes(disk(100), mounted(kind)) == [("disk-tier-mount", "disk")]


@pytest.mark.parametrize("kind", ["nvme", "ssd", "rotational", "unknown"])
def test_a_disk_tier_on_a_disk_is_not(kind: MountKind) -> None:
    assert codes(disk(100), mounted(kind)) == []


def valkey(capacity_gib: float = 48, **hashing: object) -> Plan:
    plan = seed_plan(tiers=(tier(TierKind.VALKEY, capacity_gib),))
    return changed(changed(plan, passes={"topologies": (S,)}), hash=dict(hashing))


def served(facts_of_it: StoreFacts) -> Known:
    return Known(shape=QWEN, store=facts_of_it)


def test_the_store_is_as_small_as_its_maxmemory() -> None:
    small = store(maxmemory_bytes=8 * GIB, used_memory_bytes=0, policy="noeviction")
    found = assess(valkey(), served(small))
    assert found.fit("valkey").reuse[S].refused
    assert found.fit("valkey").limit_gib == 8
    assert [one.code for one in found.findings] == ["capacity-too-small", "store-too-small"]
    large = store(maxmemory_bytes=60 * GIB, used_memory_bytes=0, policy="noeviction")
    assert codes(valkey(), served(large)) == []


@pytest.mark.parametrize(
    ("known", "code"),
    [
        (
            {"policy": "volatile-lru", "maxmemory_bytes": 60 * GIB, "used_memory_bytes": 0},
            "store-volatile-policy",
        ),
        ({"rdb_saves": "3600 1"}, "store-rdb-saves"),
    ],
)
def test_what_spoils_a_run_on_the_store_is_told(known: dict[str, object], code: str) -> None:
    assert codes(valkey(), served(store(**known))) == [(code, "valkey:6379")]
    assert codes(disk(100), served(store(**known))) == []


def test_a_chunk_longer_than_the_server_takes_blocks() -> None:
    wide = KvShape(32, 8, 128, 2)
    limit = store(proto_max_bulk_bytes=512 * 1024**2)
    plan = changed(valkey(chunk_tokens=8192), corpus={"tokens": 10_000})
    assert wide.chunk_bytes(8192) == 1024**3
    found = assess(plan, Known(shape=wide, store=limit))
    assert ("store-bulk-limit", Level.BLOCKING) in [(one.code, one.level) for one in found.findings]
    assert "store-bulk-limit" not in [code for code, _ in codes(valkey(), Known(shape=wide, store=limit))]


def test_a_prompt_shorter_than_a_chunk_is_explained() -> None:
    plan = changed(dram(8), corpus={"tokens": 26})
    found = assess(plan, Known(shape=QWEN))
    assert [one.code for one in found.findings] == ["shorter-than-a-chunk"]
    assert "26 tokens" in found.findings[0].text
    assert str(found.fit("dram").reuse[S]) == "0/30"


def test_an_unknown_kv_size_is_said_and_nothing_is_made_up() -> None:
    plan = changed(seed_plan(), model={"kv_bytes_per_token": None})
    found = assess(plan, NOTHING)
    assert "kv-size-unknown" in [one.code for one in found.findings]
    assert found.kv is None
    assert all(fit.reuse == {} and fit.smallest_gib is None for fit in found.fits)
    assert (found.recommendation.tier, found.recommendation.capacity_gib) == ("", None)


@pytest.mark.parametrize("argument", ["--tensor-parallel-size=x", "--max-num-batched-tokens=0", "-pp=-1"])
def test_an_option_that_no_engine_takes_blocks(argument: str) -> None:
    plan = changed(seed_plan(), engine={"extra_args": (argument,)})
    found = assess(plan, NOTHING)
    assert [(one.code, one.level) for one in found.findings] == [("engine-option", Level.BLOCKING)]


@pytest.mark.parametrize("argument", ["--kv-transfer-config={}", "--enable_prefix_caching", "--model=x"])
def test_an_option_that_is_kvtuis_own_blocks(argument: str) -> None:
    plan = changed(dram(24), engine={"extra_args": (argument,)})
    assert codes(plan, Known(shape=QWEN), Level.BLOCKING) == [("engine-option-taken", "seed")]


def test_the_lab_has_the_nodes_that_it_has() -> None:
    assert set(LAB_ENGINE_NODES) < set(NODE_NAMES)
    other = changed(lab_plan(), passes={"cached_node": "gpu-c"})
    assert codes(other, NOTHING, Level.BLOCKING) == [("no-such-lab-node", "lab")]
    assert codes(lab_plan(), NOTHING, Level.BLOCKING) == []


def test_the_plans_that_come_with_kvtui_warn_of_their_capacity_traps_alone() -> None:
    assert codes(seed_plan(), NOTHING) == [("capacity-too-small", "dram")]
    assert codes(lab_plan(), NOTHING) == [("capacity-too-small", "dram-small")]
