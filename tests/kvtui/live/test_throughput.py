"""Verdicts on rates: what is the limit, and when it was the page cache."""

from __future__ import annotations

import pytest

from kvtui.live.throughput import Rates, verdict
from kvtui.plan import TierKind
from kvtui.samples import Pass
from tests.kvtui.live.runs import Run
from tests.kvtui.live.test_load import sample

GIB = 1024**3
# 2,048 tokens of 8,192 bytes.
DOCUMENT = 2048 * 8192


def measured(
    kind: str, retrieve_ms: float, ceiling_bytes_s: float | None, engine_read: int | None = None
) -> Run:
    """A run with one tier, whose documents of 16 MiB were read in so many milliseconds each."""
    run = Run()
    run.own("geometry", tier=kind, bytes_per_token=8192)
    if ceiling_bytes_s is not None:
        run.ceiling({"disk": "disk-read", "valkey": "network", "dram": "memory"}[kind], ceiling_bytes_s)
    run.node_sample(**sample(engine_read=0))
    evidence = {
        "hit_tokens": 2048, "retrieved_tokens": 2048, "retrieve_ms": retrieve_ms, "retrieve_gib": 0.015625,
    }  # fmt: skip
    run.tier(kind, [400.0] * 8, [retrieve_ms + 20] * 8, "full", **evidence)
    if engine_read is not None:
        run.node_sample(**sample(engine_read=engine_read))
    return run


def said(run: Run, tier: str) -> str:
    return run.view(tier=tier).throughput.verdict


def test_a_path_at_its_ceiling_is_the_limit() -> None:
    run = measured("valkey", 16.0, DOCUMENT / 0.016 / 0.96)
    assert said(run, "valkey") == "The network path is at 96 % of its ceiling: it is the limit."
    retrieve = run.view(tier="valkey").throughput.gauges[0]
    assert retrieve.rate_bytes_s == pytest.approx(DOCUMENT / 0.016)
    assert retrieve.share == pytest.approx(0.96)


def test_far_below_the_ceiling_the_software_is_the_limit() -> None:
    run = measured("disk", 50.0, DOCUMENT / 0.050 / 0.22, engine_read=8 * DOCUMENT)
    expected = "The disk path is at 22 % of its ceiling: the software is the limit, not the device."
    assert said(run, "disk") == expected


def test_what_the_device_did_not_give_came_from_the_page_cache() -> None:
    run = measured("disk", 5.0, 1e9, engine_read=0)
    assert said(run, "disk").startswith("Faster than the device can: page cache.")
    assert "page-cache" in run.codes()


def test_above_the_ceiling_but_from_the_device_is_no_page_cache() -> None:
    run = measured("disk", 5.0, 1e9, engine_read=8 * DOCUMENT)
    assert "this way of reading was not measured" in said(run, "disk")
    assert "page-cache" not in run.codes()


def test_above_the_ceiling_with_nothing_known_of_the_device_proves_nothing() -> None:
    run = measured("disk", 5.0, 1e9)
    assert "whether the page cache helped is not known" in said(run, "disk")
    assert "page-cache" not in run.codes()


def test_without_a_ceiling_nothing_is_made_up() -> None:
    run = measured("valkey", 16.0, None)
    assert said(run, "valkey") == "The network path has no measured ceiling to compare with."
    assert run.view(tier="valkey").histogram.floor_ms is None


def test_the_best_of_several_ways_is_the_ceiling() -> None:
    run = measured("disk", 50.0, 1e8)
    run.ceiling("disk-read", 4e8)
    run.ceiling("disk-read", 2e8)
    gauges = {one.name: one for one in run.view(tier="disk").throughput.gauges}
    assert gauges["retrieve"].ceiling_bytes_s == 4e8


def test_the_floor_is_bytes_by_ceiling() -> None:
    run = measured("valkey", 16.0, 1e9)
    view = run.view(tier="valkey")
    assert view.histogram.floor_ms == pytest.approx(DOCUMENT / 1e9 * 1000)
    assert view.histogram.floor_words == "16 MiB ÷ 0.93 GiB/s (direct, 4 threads)"
    assert view.throughput.floor == "Floor of a cached TTFT 16.8 ms, seen 36.0 ms"


def test_storing_has_a_rate_but_no_ceiling_because_it_ends_in_dram() -> None:
    run = measured("disk", 50.0, 1e9)
    store = run.view(tier="disk").throughput.gauges[1]
    assert store.rate_bytes_s == pytest.approx(DOCUMENT / 0.005)
    assert store.ceiling_bytes_s is None


def test_a_tier_without_a_cache_has_no_verdict() -> None:
    assert verdict(TierKind.NONE, Rates("gpu-a", retrieve=1.0), None) == ""


def test_nothing_is_said_before_anything_was_read() -> None:
    run = Run()
    run.step("valkey", "cached/single")
    run.of_node(run.source("valkey", Pass.CACHED), "pass_begin", requests=8)
    assert said(run, "valkey") == ""
