"""The head: where the run stands, and the time that is left, judged phase by phase."""

from __future__ import annotations

import pytest

from kvtui.samples import Pass
from tests.kvtui.live.runs import RUN, Run


def test_the_head_names_the_pass_and_counts_its_requests() -> None:
    run = Run()
    run.step("dram", "cold/single")
    run.of_node(run.source("dram", Pass.COLD), "pass_begin", requests=8)
    for document in range(3):
        run.answer("dram", Pass.COLD, document, 400.0)
    head = run.view(now="gpu-a: 3 of 8").head
    assert (head.run, head.plan, head.state) == (RUN, "small", "running")
    assert (head.tier, head.topology, head.step, head.node) == ("dram", "single", "cold pass", "gpu-a")
    assert (head.answered, head.requests, head.now) == (3, 8, "gpu-a: 3 of 8")
    assert head.elapsed_s == pytest.approx(1.2)


def test_a_pass_takes_as_long_as_its_own_requests_took_and_not_those_of_others() -> None:
    run = Run()
    run.tier("none", [4000.0] * 8, [4000.0] * 8)
    run.step("dram", "cached/single")
    run.of_node(run.source("dram", Pass.CACHED), "pass_begin", requests=8)
    for document in range(5):
        run.answer("dram", Pass.CACHED, document, 100.0)
    assert run.view().head.step_left_s == pytest.approx(3 * 0.1)


def test_one_slow_request_does_not_stretch_the_rest() -> None:
    run = Run()
    run.step("dram", "cold/single")
    run.of_node(run.source("dram", Pass.COLD), "pass_begin", requests=8)
    for document, ttft_ms in enumerate([5000.0, 400.0, 400.0]):
        run.answer("dram", Pass.COLD, document, ttft_ms)
    assert run.view().head.step_left_s == pytest.approx(5 * 0.4)


def test_the_time_of_the_request_under_way_counts() -> None:
    run = Run()
    run.step("dram", "cold/single")
    run.of_node(run.source("dram", Pass.COLD), "pass_begin", requests=8)
    run.answer("dram", Pass.COLD, 0, 1000.0)
    run.now_s += 0.5
    assert run.view().head.step_left_s == pytest.approx(6.5)


def test_cold_and_cached_passes_to_come_are_judged_by_their_own_kind() -> None:
    run = Run()
    run.tier("none", [4000.0] * 8, [100.0] * 8)
    before = run.view().head.run_left_s
    assert before is not None
    # What is left holds three cold passes of 32 s and three cached ones of 0.8 s, which a mean would mix up.
    slower = Run()
    slower.tier("none", [8000.0] * 8, [100.0] * 8)
    after = slower.view().head.run_left_s
    assert after is not None
    assert after - before == pytest.approx(3 * 32.0)


def test_a_step_without_requests_counts_down() -> None:
    run = Run()
    run.step("dram", "engines")
    first = run.view().head.step_left_s
    run.now_s += 10
    second = run.view().head.step_left_s
    assert first is not None
    assert second is not None
    assert first - second == pytest.approx(10)


def test_a_step_that_takes_longer_than_expected_has_no_known_end() -> None:
    run = Run()
    run.step("dram", "engines")
    run.now_s += 600
    head = run.view().head
    assert head.step_left_s is None
    assert head.run_left_s is not None


def test_a_run_that_is_over_has_nothing_left_and_its_time_stands() -> None:
    run = Run()
    run.now_s += 60
    run.own("run_done")
    run.now_s += 7 * 86_400
    head = run.view().head
    assert (head.state, head.share, head.run_left_s, head.step_left_s) == ("done", 1.0, None, None)
    assert head.elapsed_s == 60


def test_an_attach_after_a_failure_makes_it_running_again() -> None:
    run = Run()
    run.own("run_failed", message="The node was lost.")
    assert run.view().head.reason == "The node was lost."
    run.own("attached")
    head = run.view().head
    assert (head.state, head.reason) == ("running", "")


def test_the_share_of_the_run_grows_with_its_steps() -> None:
    run = Run()
    shares = []
    for tier in ("none", "dram", "disk"):
        run.tier(tier, [400.0] * 8, [100.0] * 8)
        shares.append(run.view().head.share)
    assert shares == sorted(shares, key=lambda share: share or 0.0)
    assert 0 < (shares[0] or 0.0) < (shares[-1] or 0.0) < 1
