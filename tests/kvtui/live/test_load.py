"""Rates from counters, ages of values, and what a dead node looks like."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.live.counters import Counters, Reading
from kvtui.live.rates import Gauge, Health, NodeStrip
from kvtui.samples import Pass
from tests.kvtui.live.runs import Run, small_plan

MB = 1_000_000


def sample(rx: int = 0, read: int = 0, engine_read: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "cpu_percent": 12.5,
        "cores": 16,
        "ram_total_bytes": 64 * 1024**3,
        "ram_available_bytes": 40 * 1024**3,
        "swap_used_bytes": 0,
        "nics": {"lo": {"rx_bytes": 9 * rx, "tx_bytes": 0}, "eth0": {"rx_bytes": rx, "tx_bytes": 0}},
        "disks": {"nvme0n1": {"read_bytes": read, "write_bytes": 0}},
        "engine": {"rss_bytes": 3 * 1024**3, "read_bytes": engine_read},
        "gpus": [],
        **more,
    }


def ticking(run: Run, ticks: int, rx_bytes_s: int) -> None:
    for tick in range(ticks):
        run.node_sample(**sample(rx=tick * rx_bytes_s, read=tick * 5 * MB))
        run.now_s += 1
    run.now_s -= 1


def strip(run: Run) -> NodeStrip:
    return next(node for node in run.view().nodes if node.node == "gpu-a")


def gauge(run: Run, name: str, tier: str = "valkey") -> Gauge:
    return next(one for one in run.view(tier=tier).throughput.gauges if one.name == name)


def test_rates_come_from_counters_and_the_loopback_is_no_network() -> None:
    run = Run()
    ticking(run, 4, 300 * MB)
    node = strip(run)
    assert (node.health, node.age_s) == (Health.LIVE, None)
    assert node.nic_rx_bytes_s == pytest.approx(300 * MB)
    assert node.disk_read_bytes_s == pytest.approx(5 * MB)
    assert (node.cpu_percent, node.cores, node.ram_used_bytes) == (12.5, 16, 24 * 1024**3)
    assert node.engine_rss_bytes == 3 * 1024**3


def test_one_sample_is_no_rate() -> None:
    run = Run()
    ticking(run, 1, MB)
    assert strip(run).nic_rx_bytes_s is None


def test_a_counter_that_goes_back_is_unknown_and_not_a_negative_rate() -> None:
    run = Run()
    ticking(run, 3, MB)
    run.now_s += 1
    run.node_sample(**sample(rx=5))
    assert strip(run).nic_rx_bytes_s is None


def test_a_hole_between_samples_is_no_rate_of_now() -> None:
    run = Run()
    ticking(run, 3, MB)
    run.now_s += 60
    run.node_sample(**sample(rx=90 * MB))
    assert strip(run).nic_rx_bytes_s is None


def test_an_old_value_carries_its_age_and_a_dead_node_shows_nothing() -> None:
    run = Run()
    ticking(run, 4, MB)
    run.now_s += 2
    assert strip(run).age_s is None
    run.now_s += 4
    stale = strip(run)
    assert (stale.health, stale.cpu_percent) == (Health.STALE, 12.5)
    assert stale.age_s == pytest.approx(6)
    run.now_s += 30
    dead = strip(run)
    assert dead.health is Health.DEAD
    assert (dead.cpu_percent, dead.ram_used_bytes, dead.swap_used_bytes) == (None, None, None)
    assert (dead.nic_rx_bytes_s, dead.disk_read_bytes_s) == (None, None)
    assert dead.age_s == pytest.approx(36)


def test_a_node_that_was_never_seen_is_not_at_zero() -> None:
    node = strip(Run())
    assert (node.health, node.cpu_percent, node.nic_rx_bytes_s, node.gpus) == (Health.UNSEEN, None, None, ())


def test_the_dram_tier_has_its_part_only_while_it_is_measured() -> None:
    run = Run()
    run.step("dram", "cold/single")
    assert strip(run).dram_tier_bytes == 1024**3
    run.step("disk", "cold/single")
    assert strip(run).dram_tier_bytes is None


def test_while_a_pass_goes_on_its_gauges_are_of_now_and_afterwards_its_mean() -> None:
    run = Run()
    run.step("valkey", "cached/single")
    src = run.source("valkey", Pass.CACHED)
    run.node_sample(**sample(rx=0))
    run.of_node(src, "pass_begin", requests=3)
    for received in (100, 200, 600):
        run.answer("valkey", Pass.CACHED, received % 3, 1000.0)
        run.node_sample(**sample(rx=received * MB))
    # All requests are settled by now: the mean over the three seconds of the pass counts.
    assert gauge(run, "NIC rx").rate_bytes_s == pytest.approx(200 * MB)
    again = Run()
    again.step("valkey", "cached/single")
    again.of_node(src, "pass_begin", requests=9)
    again.answer("valkey", Pass.CACHED, 0, 100.0)
    for tick, received in enumerate((0, 100, 200, 600, 1000)):
        again.node_sample(**sample(rx=received * MB))
        again.now_s += 1 if tick < 4 else 0
    assert gauge(again, "NIC rx").rate_bytes_s == pytest.approx(400 * MB)


def test_evictions_count_from_the_first_sample_of_the_run() -> None:
    run = Run()
    for evicted in (500, 500, 512):
        run.own("store_sample", used_memory_bytes=10, maxmemory_bytes=0, keys=7, evicted_keys=evicted)
        run.now_s += 1
    store = run.view().store
    assert store is not None
    assert (store.evicted, store.keys, store.limit_bytes) == (12, 7, None)


def test_a_plan_without_a_store_shows_none() -> None:
    tiers = [{"name": "none", "kind": "none"}]
    assert Run(small_plan(tiers=tiers, store=None)).view().store is None


@given(st.lists(st.integers(0, 1 << 60), min_size=2, max_size=8))
def test_a_rate_is_never_negative(values: list[int]) -> None:
    counters = Counters()
    for tick, value in enumerate(values):
        counters.take(Reading(float(tick), {"bytes": float(value)}))
    rate = counters.rate("bytes")
    assert rate is None or rate >= 0


def test_a_window_reaches_from_the_reading_before_a_pass_to_the_one_after_it() -> None:
    counters = Counters()
    counters.take(Reading(0.0, {"bytes": 10.0}))
    counters.take(Reading(1.0, {"bytes": 20.0}))
    window = counters.window(1.5)  # the news of the pass comes after the first reading
    counters.take(Reading(2.0, {"bytes": 100.0}))
    window.end_wall_s = 2.5
    counters.take(Reading(3.0, {"bytes": 130.0}))
    counters.take(Reading(4.0, {"bytes": 999.0}))
    assert window.grown("bytes") == 110.0
    assert window.rate("bytes") == 55.0


def test_a_counter_that_began_anew_within_a_pass_is_unknown_for_it() -> None:
    counters = Counters()
    window = counters.window(0.0)
    for wall_s, value in ((0.0, 50.0), (1.0, 5.0), (2.0, 80.0)):
        counters.take(Reading(wall_s, {"bytes": value}))
    assert window.grown("bytes") is None
