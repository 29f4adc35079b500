"""What a plan will take and gain, from what was measured; unknown where nothing was."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvtui.campaign.steps import StepKind
from kvtui.check import Known, TierForecast, assess, measured_of
from kvtui.findings import Level
from kvtui.journal import read_events
from kvtui.plan import Plan, TierKind, Topology
from kvtui.recordings import RECORDED
from kvtui.storefacts import StoreFacts
from tests.kvtui.knowing import (
    GIB,
    H200_DISK,
    NOTHING,
    QWEN,
    ceiling,
    changed,
    facts,
    h200,
    h200_plan,
    mount,
    seed_plan,
)
from tests.kvtui.plans import lab_plan

KNOWN = Known(shape=QWEN, measured=h200(), ceilings=(H200_DISK,))


def of(plan: Plan, known: Known, name: str) -> TierForecast:
    return next(one for one in assess(plan, known).forecast.tiers if one.tier == name)


def test_on_the_h200_the_floor_alone_says_that_disk_is_slower_than_prefill() -> None:
    bare = replace(h200(), tiers=h200().tiers[:1])
    known = replace(KNOWN, measured=bare)
    found = of(h200_plan(), known, "disk")
    assert found.floor_ms == pytest.approx(349.1, abs=0.1)
    assert found.slower
    assert "slower than prefill, 252 ms" in found.text
    findings = [one for one in assess(h200_plan(), known).findings if one.code == "slower-than-prefill"]
    assert [(one.where, one.level) for one in findings] == [("disk", Level.WARNING)]


def test_a_faster_disk_is_not_slower_than_prefill() -> None:
    fast = replace(
        KNOWN,
        measured=replace(h200(), tiers=h200().tiers[:1]),
        ceilings=(ceiling("gpu-a", "disk-read", 6.8e9, "/mnt/nvme/kv"),),
    )
    assert of(h200_plan(), fast, "disk").slower is False
    assert assess(h200_plan(), fast).findings == ()


def test_on_the_h200_gains_and_break_even_follow_from_the_measured_run() -> None:
    dram, disk, valkey = (
        of(h200_plan(), KNOWN, kind.value) for kind in (TierKind.DRAM, TierKind.DISK, TierKind.VALKEY)
    )
    assert dram.speedup == pytest.approx(3.695, abs=0.001)
    assert dram.break_even_hits == pytest.approx(51 / 170)
    assert valkey.break_even_hits == pytest.approx(176 / 23)
    assert disk.speedup == pytest.approx(0.809, abs=0.001)
    assert disk.break_even_hits is None
    assert "no hit ever pays" in disk.text
    assert (dram.slower, disk.slower, valkey.slower) == (False, True, False)


def test_without_measurements_nothing_is_forecast() -> None:
    found = assess(h200_plan(), NOTHING).forecast
    for one in found.tiers:
        assert (one.floor_ms, one.prefill_ms, one.speedup, one.break_even_hits, one.slower) == (None,) * 5
    assert (found.duration_s, found.cost) == (None, None)
    assert "no finished run" in found.duration_basis


@pytest.mark.parametrize("change", [{"model": {"served_name": "other"}}, {"corpus": {"tokens": 5_000}}])
def test_a_run_of_another_model_or_length_says_nothing_of_ttft(change: dict[str, object]) -> None:
    found = of(changed(h200_plan(), **change), KNOWN, "dram")
    assert (found.prefill_ms, found.speedup) == (None, None)


def test_a_tier_that_reused_nothing_then_promises_nothing_now() -> None:
    lost = tuple(replace(one, reused=0) for one in h200().tiers)
    found = of(h200_plan(), replace(KNOWN, measured=replace(h200(), tiers=lost)), "dram")
    assert (found.speedup, found.break_even_hits) == (None, None)


def test_a_ceiling_of_another_mount_node_or_store_is_none() -> None:
    mounts = (mount("/"), mount("/mnt/nvme"), mount("/data"))
    known = Known(shape=QWEN, facts={"gpu-a": facts(mounts=mounts)})
    for target, there in (("/mnt/nvme/probe", True), ("/data/kv", False), ("/home", False)):
        disk = ceiling("gpu-a", "disk-read", 1e9, target)
        assert (of(h200_plan(), replace(known, ceilings=(disk,)), "disk").floor_ms is not None) == there
    elsewhere = ceiling("gpu-b", "disk-read", 1e9, "/mnt/nvme/kv")
    assert of(h200_plan(), replace(known, ceilings=(elsewhere,)), "disk").floor_ms is None
    for target, there in (("valkey:6379", True), ("other:6379", False)):
        network = ceiling("gpu-a", "network", 1e9, target)
        assert (of(h200_plan(), replace(known, ceilings=(network,)), "valkey").floor_ms is not None) == there


def test_a_fleet_is_forecast_on_the_node_that_reads() -> None:
    near, far = (
        ceiling(node, "network", speed, "valkey:6379") for node, speed in (("gpu-a", 2e9), ("gpu-b", 1e9))
    )
    found = assess(seed_plan(), Known(shape=QWEN, ceilings=(near, far))).forecast.tiers
    floors = {one.topology: one.floor_ms for one in found if one.tier == "valkey"}
    assert floors[Topology.SINGLE] == pytest.approx(286.3, abs=0.1)
    assert floors[Topology.FLEET] == pytest.approx(572.5, abs=0.1)
    assert {one.topology for one in found if one.tier == "disk"} == {Topology.SINGLE}


def _steps(pass_s: float) -> dict[str, tuple[float, ...]]:
    short = {kind.name: (1.0,) for kind in StepKind}
    return {**short, "COLD": (pass_s, pass_s, 99 * pass_s), "CACHED": (pass_s,)}


def test_a_run_takes_what_its_steps_took_before() -> None:
    plan = lab_plan()
    lab = h200(model=plan.model.served_name, documents=8, tokens=plan.corpus.tokens, step_s=_steps(10.0))
    found = assess(plan, Known(measured=lab)).forecast
    passes = 5 * 3
    assert found.duration_s == 10.0 * passes + (5 * 4 + 4 * 3 + 3)
    half = changed(plan, corpus={"documents": 4})
    assert assess(half, Known(measured=lab)).forecast.duration_s == 5.0 * passes + (5 * 4 + 4 * 3 + 3)


def test_a_step_that_never_ran_leaves_the_duration_unknown() -> None:
    plan = lab_plan()
    steps = {name: seconds for name, seconds in _steps(1.0).items() if name != "SETTLE"}
    lab = h200(model=plan.model.served_name, step_s=steps)
    found = assess(plan, Known(measured=lab)).forecast
    assert found.duration_s is None
    assert "wait for stores" in found.duration_basis


def test_cost_is_hours_by_prices_and_unknown_without_one_of_them() -> None:
    plan = lab_plan()
    lab = h200(model=plan.model.served_name, documents=8, tokens=plan.corpus.tokens, step_s=_steps(10.0))
    known = Known(measured=lab, prices={"gpu-a": 2.0, "gpu-b": 1.5})
    found = assess(plan, known).forecast
    assert found.duration_s is not None
    assert found.cost == pytest.approx(3.5 * found.duration_s / 3600)
    less = assess(plan, replace(known, prices={"gpu-a": 2.0})).forecast
    assert less.cost is None
    assert "gpu-b" in less.cost_basis


def test_a_price_in_the_plan_counts_before_another() -> None:
    plan = seed_plan()
    nodes = {name: node.model_copy(update={"hourly_price": 1.0}) for name, node in plan.nodes.items()}
    found = assess(changed(plan, nodes=nodes), Known(prices={"gpu-a": 9.0})).forecast
    assert found.cost_basis.startswith("3 an hour for gpu-a, gpu-b, valkey")


def test_an_earlier_run_is_read_from_its_record() -> None:
    plan = Plan.model_validate_json((RECORDED / "plan.json").read_text(encoding="utf-8"))
    measured = measured_of("r", plan, read_events(RECORDED / "events.jsonl"))
    assert measured.speaks_of(plan)
    assert measured.none_ms is not None
    assert {one.tier for one in measured.tiers} == {tier.name for tier in plan.tiers}
    found = assess(plan, Known(measured=measured)).forecast
    assert found.duration_s is not None
    dram = next(one for one in found.tiers if one.tier == "dram")
    assert dram.speedup is not None
    assert dram.speedup > 1


def test_the_recommendation_for_the_h200_is_dram_with_its_arithmetic() -> None:
    known = replace(KNOWN, facts={"gpu-a": facts(ram_gib=512, free_gib=400)})
    found = assess(h200_plan(), known).recommendation
    assert (found.tier, found.capacity_gib) == ("dram", 15.9961)
    assert "3.70×" in found.sentence
    assert any("57,344 bytes a token" in line for line in found.arithmetic)
    assert any("at most" in line and "RAM of gpu-a" in line for line in found.arithmetic)


def test_where_dram_has_no_room_the_next_is_recommended() -> None:
    known = replace(KNOWN, facts={"gpu-a": facts(ram_gib=16, free_gib=12)})
    assert assess(h200_plan(), known).recommendation.tier == "valkey"
    tight = replace(known, store=StoreFacts("v:1", 0.0, maxmemory_bytes=GIB, used_memory_bytes=0))
    only = changed(h200_plan(), tiers=tuple(t for t in h200_plan().tiers if t.kind is not TierKind.DISK))
    found = assess(only, tight).recommendation
    assert (found.tier, found.capacity_gib) == ("", None)
    assert "No tier has room" in found.sentence


def test_for_a_fleet_only_a_shared_tier_is_recommended() -> None:
    assert assess(seed_plan(), NOTHING).recommendation.tier == "valkey"
    local = changed(seed_plan(), tiers=tuple(t for t in seed_plan().tiers if t.kind is not TierKind.VALKEY))
    found = assess(local, NOTHING).recommendation
    assert (found.tier, found.sentence.startswith("Add a valkey tier")) == ("", True)


def test_where_every_tier_is_slower_prefill_is_recommended() -> None:
    disk = changed(h200_plan(), tiers=tuple(t for t in h200_plan().tiers if t.kind is TierKind.DISK))
    assert assess(disk, KNOWN).recommendation.sentence.startswith("Compute anew")


def test_a_run_of_three_repeats_takes_three_times_as_long_but_for_what_is_done_once() -> None:
    plan = lab_plan()
    lab = h200(model=plan.model.served_name, documents=8, tokens=plan.corpus.tokens, step_s=_steps(10.0))
    once = assess(plan, Known(measured=lab)).forecast.duration_s
    thrice = assess(changed(plan, passes={"repeats": 3}), Known(measured=lab)).forecast.duration_s
    assert once is not None
    prepared_cut_and_finished_s = 3.0
    assert thrice == 3 * (once - prepared_cut_and_finished_s) + prepared_cut_and_finished_s
