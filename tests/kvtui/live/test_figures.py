"""Numbers and ticks: medians, intervals, and round figures for axes."""

from __future__ import annotations

import math
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.live.numbers import Sorted, number
from kvtui.live.standing import Sign
from kvtui.live.ticks import count_ticks, linear_ticks, log_ticks, tick_text
from kvtui.samples import Pass
from tests.kvtui.live.runs import Run

finite = st.floats(0.001, 1e9)


def filled(values: list[float]) -> Sorted:
    found = Sorted()
    for value in values:
        found.swap(None, value)
    return found


@given(st.lists(finite, min_size=1, max_size=60))
def test_the_median_is_that_of_the_tables(values: list[float]) -> None:
    assert filled(values).median == median(values)


@given(st.lists(st.tuples(finite, finite), min_size=1, max_size=30))
def test_a_value_that_was_swapped_leaves_nothing_behind(pairs: list[tuple[float, float]]) -> None:
    found = filled([old for old, _ in pairs])
    for old, new in pairs:
        found.swap(old, new)
    assert list(found.values) == sorted(new for _, new in pairs)


def test_the_95th_percentile_needs_20_samples() -> None:
    values = [float(value) for value in range(1, 20)]
    assert filled(values).p95 is None
    assert filled([*values, 20.0]).p95 == 19.0


def test_far_beyond_any_measure_is_unknown() -> None:
    for value in (float("nan"), float("inf"), 10**400, True, "5", None):
        assert number(value) is None
    assert number(5) == 5.0


@given(finite, st.floats(1.0001, 1e6), st.integers(1, 12))
def test_ticks_are_round_few_and_within_the_range(low: float, factor: float, most: int) -> None:
    high = low * factor
    for ticks in (linear_ticks(low, high, most), log_ticks(low, high, most)):
        assert len(ticks) <= most
        assert all(low * (1 - 1e-6) <= tick <= high * (1 + 1e-6) for tick in ticks)
        assert list(ticks) == sorted(set(ticks))
    assert all(math.isfinite(tick) for tick in linear_ticks(low, high, most))


@given(st.integers(1, 10_000), st.integers(1, 20))
def test_counts_end_with_the_highest(high: int, most: int) -> None:
    ticks = count_ticks(high, most)
    assert ticks[-1] == high
    assert len(ticks) <= most


@pytest.mark.parametrize(("value", "text"), [(200.0, "200"), (2500.0, "2,500"), (2.5, "2.5"), (5.0, "5")])
def test_a_tick_is_no_longer_than_it_must_be(value: float, text: str) -> None:
    assert tick_text(value) == text


def test_the_strip_tells_each_state_by_sign_and_word() -> None:
    run = Run()
    run.tier("none", [400.0] * 8, [400.0] * 8, "none")
    run.tier("dram", [400.0] * 8, [400.0] * 8, "none")
    run.tier("disk", [300.0] * 8, [400.0] * 8, "full")
    run.step("valkey", "cold/single")
    marks = [(mark.tier, mark.sign, mark.word, mark.current) for mark in run.view().tiers]
    assert marks == [
        ("none", Sign.GOOD, "measured", False),
        ("dram", Sign.WARNING, "no reuse", False),
        ("disk", Sign.WARNING, "slower", False),
        ("valkey", Sign.RUNNING, "running", True),
    ]
    run.own("run_failed", message="The store was lost.")
    last = run.view().tiers[-1]
    assert (last.sign, last.word) == (Sign.BAD, "failed")


def test_what_is_shown_is_what_was_asked_for_else_what_the_run_works_on() -> None:
    run = Run()
    run.step("dram", "cold/single")
    run.answer("dram", Pass.COLD, 0, 400.0)
    assert run.view().histogram.tier == "dram"
    assert run.view(tier="disk").histogram.tier == "disk"
    assert run.view(tier="no such tier").histogram.tier == "dram"
    assert [one.tier for one in run.view().multiples] == ["dram"]
