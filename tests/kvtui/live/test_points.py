"""Documents in request order: at once when answered, with their verdict when judged."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kvtui.live.standing import Sign
from kvtui.samples import Pass
from kvtui.stats.shape import unlike_first
from tests.kvtui.live.runs import Run


def in_a_cached_pass() -> Run:
    run = Run()
    run.step("dram", "cold/single")
    run.whole_pass("dram", Pass.COLD, [400.0] * 8, "none")
    run.step("dram", "cached/single")
    run.of_node(run.source("dram", Pass.CACHED), "pass_begin", requests=8)
    return run


def test_an_answer_is_shown_at_once_and_its_verdict_replaces_the_sign() -> None:
    run = in_a_cached_pass()
    run.answer("dram", Pass.CACHED, 0, 50.0)
    point = run.view().series.points[0]
    assert (point.cached_ms, point.speedup, point.verdict, point.sign) == (50.0, 8.0, "pending", Sign.RUNNING)
    run.judge("dram", Pass.CACHED, 0, 50.0, "full")
    point = run.view().series.points[0]
    assert (point.verdict, point.sign) == ("full", Sign.GOOD)


def test_the_first_token_is_shown_before_the_answer_ends() -> None:
    run = in_a_cached_pass()
    about = {"request_id": run.id("dram", Pass.CACHED, 0), "meta": {"document": "doc-0"}, "attempt": 1}
    run.of_node(run.source("dram", Pass.CACHED), "first_token", ttft_ms=50.0, **about)
    assert run.view().histogram.cached_ms == (50.0,)


def test_each_loss_looks_different_from_whole_reuse() -> None:
    run = in_a_cached_pass()
    for document, verdict in enumerate(["full", "partial", "none", "unknown"]):
        run.judge("dram", Pass.CACHED, document, 60.0, verdict)
    run.judge("dram", Pass.CACHED, 4, None, "unknown", reason="timeout: gone")
    points = run.view().series.points
    assert [point.verdict for point in points[:6]] == ["full", "partial", "none", "unknown", "failed", ""]
    expected = [Sign.GOOD, Sign.WARNING, Sign.WARNING, Sign.WARNING, Sign.BAD, Sign.WAITING]
    assert [point.sign for point in points[:6]] == expected


def test_a_tier_without_a_cache_loses_nothing() -> None:
    run = Run()
    run.tier("none", [400.0] * 8, [400.0] * 8, "none")
    assert {point.sign for point in run.view(tier="none").series.points} == {Sign.GOOD}


def test_a_failed_request_has_no_time_and_says_why() -> None:
    run = in_a_cached_pass()
    about = {"request_id": run.id("dram", Pass.CACHED, 0), "meta": {"document": "doc-0"}, "attempt": 1}
    run.of_node(run.source("dram", Pass.CACHED), "failed", error="timeout", detail="120 s", **about)
    point = run.view().series.points[0]
    assert (point.cached_ms, point.verdict, point.sign) == (None, "failed", Sign.BAD)
    detail = run.state.request(point.cached_request)
    assert detail is not None
    assert detail.evidence == "timeout: 120 s"


def test_a_shuffled_cached_pass_is_shown_in_its_own_order() -> None:
    run = in_a_cached_pass()
    for document in (5, 2, 7):
        run.answer("dram", Pass.CACHED, document, 50.0)
    shown = [point.document for point in run.view().series.points]
    assert shown[:3] == ["doc-5", "doc-2", "doc-7"]
    assert shown[3:] == ["doc-0", "doc-1", "doc-3", "doc-4", "doc-6"]


def test_first_requests_that_are_unlike_the_rest_are_marked_and_said() -> None:
    run = in_a_cached_pass()
    # The published anomaly: 11×, 3.5×, then 2.1×.
    for document, speedup in enumerate([11.0, 3.5, 2.1, 2.08, 2.12, 2.1, 2.09, 2.11]):
        run.answer("dram", Pass.CACHED, document, 400.0 / speedup)
    series = run.view().series
    assert [point.early for point in series.points] == [True, True] + [False] * 6
    assert series.anomaly == "The first 2 documents are 11.0×, 3.5×; the rest 2.1×."


def test_even_requests_have_no_first_ones() -> None:
    run = in_a_cached_pass()
    for document in range(8):
        run.answer("dram", Pass.CACHED, document, 50.0 + document % 3)
    assert run.view().series.anomaly == ""


@given(st.lists(st.floats(1, 100), min_size=8, max_size=40), st.integers(0, 2))
def test_planted_first_values_are_counted_exactly(rest: list[float], planted: int) -> None:
    even = [20.0 + value / 100 for value in rest]
    assert unlike_first([90.0] * planted + even) == planted


def test_a_drift_is_no_anomaly_of_the_first() -> None:
    assert unlike_first([5.0 - 0.1 * place for place in range(30)]) == 0
