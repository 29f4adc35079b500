"""Findings that figures make: each with its cause planted, and quiet without it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kvtui.findings import Level
from kvtui.samples import Pass
from tests.kvtui.live.runs import Run, small_plan
from tests.kvtui.live.test_load import sample

READ = {"hit_tokens": 2048, "retrieved_tokens": 2048, "retrieve_ms": 10.0, "retrieve_gib": 0.015625}


def good() -> Run:
    """A run with nothing to find."""
    run = Run()
    for tier in ("none", "dram", "valkey"):
        run.own("geometry", tier=tier, bytes_per_token=8192)
    run.node_sample(**sample())
    run.tier("none", [400.0] * 8, [400.0] * 8, "none")
    run.tier("dram", [410.0] * 8, [40.0] * 8, "full", **READ)
    run.own("store_sample", evicted_keys=3, keys=5)
    run.tier("valkey", [420.0] * 8, [60.0] * 8, "full", **READ)
    run.own("store_sample", evicted_keys=3, keys=64)
    run.node_sample(**sample())
    return run


def lost_reuse() -> Run:
    plan = small_plan(tiers=[{"name": "dram", "kind": "dram", "capacity_gib": 0.0625}])
    run = Run(plan)
    run.own("geometry", tier="dram", bytes_per_token=8192)
    run.tier("dram", [400.0] * 8, [400.0] * 8, "none", hit_tokens=0)
    return run


def slower_than_prefill() -> Run:
    run = Run()
    run.tier("disk", [326.0] * 8, [403.0] * 8, "full", **READ)
    return run


def hits_not_read() -> Run:
    run = Run()
    run.tier("valkey", [400.0] * 8, [390.0] * 8, "none", hit_tokens=2048)
    return run


def recovered() -> Run:
    run = Run()
    run.tier("valkey", [400.0] * 8, [390.0] * 8, "unknown", **READ, recovered=True)
    return run


def evicted_in_cold() -> Run:
    run = Run()
    run.own("store_sample", evicted_keys=3)
    run.step("valkey", "cold/single")
    run.whole_pass("valkey", Pass.COLD, [500.0] * 8, "none", evidence={"hit_tokens": 0})
    run.own("store_sample", evicted_keys=40)
    return run


def stored_in_part() -> Run:
    run = Run()
    run.step("dram", "cold/single")
    stored = {"hit_tokens": 0, "stored_tokens": 512, "store_ms": 3.0}
    run.whole_pass("dram", Pass.COLD, [400.0] * 8, "none", evidence=stored)
    return run


def dear_storing() -> Run:
    run = Run()
    run.tier("none", [252.0] * 8, [252.0] * 8, "none")
    run.tier("valkey", [428.0] * 8, [229.0] * 8, "full", **READ)
    return run


def first_differ() -> Run:
    run = Run()
    run.tier("disk", [400.0] * 8, [36.0, 114.0, *[190.0] * 6], "full", **READ)
    return run


def swapping() -> Run:
    run = Run()
    run.node_sample(**sample(swap_used_bytes=0))
    run.now_s += 1
    run.node_sample(**sample(swap_used_bytes=1024**3))
    return run


def throttled() -> Run:
    run = Run()
    run.node_sample(**sample(gpus=[{"index": 0, "throttle": "thermal, hardware"}]))
    return run


PLANTED: list[tuple[str, Level, Callable[[], Run], str]] = [
    (
        "reuse-lost",
        Level.WARNING,
        lost_reuse,
        "dram kept 0 of 8 documents. Their KV is 0.12 GiB, the tier has 0.06 GiB.",
    ),
    ("slower-than-prefill", Level.WARNING, slower_than_prefill, "disk is slower than prefill: 0.81×"),
    ("hit-not-read", Level.WARNING, hits_not_read, "8 of 8 requests had hits"),
    ("load-recovered", Level.WARNING, recovered, "8 requests computed again"),
    ("evicted-in-cold", Level.WARNING, evicted_in_cold, "37 keys"),
    ("stored-in-part", Level.WARNING, stored_in_part, "8 of 8 documents"),
    ("price-of-storing", Level.INFO, dear_storing, "176 ms: 428 ms, and 252 ms without"),
    ("first-requests-differ", Level.INFO, first_differ, "The first 2 documents"),
    ("swap-in-use", Level.WARNING, swapping, "1.00 GiB, and grew"),
    ("gpu-throttled", Level.WARNING, throttled, "thermal, hardware"),
]


@pytest.mark.parametrize(("code", "level", "plant", "words"), PLANTED, ids=[case[0] for case in PLANTED])
def test_a_planted_cause_is_found(code: str, level: Level, plant: Callable[[], Run], words: str) -> None:
    found = [one.finding for one in plant().view().findings if one.finding.code == code]
    assert len(found) == 1
    assert found[0].level is level
    assert words in found[0].text


def test_a_good_run_is_quiet() -> None:
    assert good().codes() == []


def test_reuse_is_not_called_lost_before_the_pass_is_judged() -> None:
    run = Run()
    run.judge("dram", Pass.CACHED, 0, 400.0, "none")
    assert run.codes() == []


def test_keys_evicted_outside_of_the_cold_pass_are_not_its_fault() -> None:
    run = Run()
    run.step("valkey", "cold/single")
    run.own("store_sample", evicted_keys=3)
    run.whole_pass("valkey", Pass.COLD, [500.0] * 8, "none", evidence={"hit_tokens": 0})
    run.now_s += 1
    run.own("store_sample", evicted_keys=3)
    run.now_s += 5
    run.own("store_sample", evicted_keys=90)
    assert run.codes() == []


def test_swap_that_was_in_use_before_and_did_not_grow_is_told_quietly() -> None:
    run = Run()
    for _ in range(3):
        run.node_sample(**sample(swap_used_bytes=1024**3))
        run.now_s += 1
    (found,) = run.view().findings
    assert found.finding.level is Level.INFO


@pytest.mark.parametrize("throttle", ["", None])
def test_a_gpu_that_nothing_holds_back_is_not_told_of(throttle: str | None) -> None:
    run = Run()
    run.node_sample(**sample(gpus=[{"index": 0, "throttle": throttle}]))
    assert run.codes() == []


def test_the_power_cap_alone_is_no_warning() -> None:
    run = Run()
    run.node_sample(**sample(gpus=[{"index": 0, "throttle": "power cap"}]))
    (found,) = run.view().findings
    assert (found.finding.level, found.count) == (Level.INFO, 1)


def test_findings_come_gravest_first_and_then_by_time() -> None:
    run = Run()
    for code, level in (
        ("late-info", "info"),
        ("early-warning", "warning"),
        ("stop", "blocking"),
        ("next", "warning"),
    ):
        run.now_s += 1
        finding = {"level": level, "code": code, "text": "Text.", "remedy": "Do.", "where": ""}
        run.own("finding", finding=finding)
    run.own("finding", finding=finding)
    assert run.codes() == ["stop", "early-warning", "next", "late-info"]
    counts = {one.finding.code: one.count for one in run.view().findings}
    assert counts["next"] == 2
