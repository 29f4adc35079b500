"""Intervals with their true level, Hodges–Lehmann, percentiles, and how many documents would do."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.stats.estimate import (
    Estimate,
    documents_needed,
    estimate,
    hodges_lehmann,
    paired_differences,
    paired_ratios,
    ratio_estimate,
)
from kvtui.stats.order import least_count, median_interval, outside, percentile

positive = st.floats(1e-6, 1e9)
anything = st.floats(allow_nan=True, allow_infinity=True)


def upto(count: int) -> list[float]:
    return [float(value) for value in range(1, count + 1)]


@pytest.mark.parametrize(
    ("count", "low", "high", "level"),
    [(6, 1, 6, 0.96875), (8, 1, 8, 0.9921875), (30, 10, 21, 0.957226), (100, 40, 61, 0.964800)],
)
def test_ranks_and_levels_are_those_of_the_binomial_distribution(
    count: int, low: int, high: int, level: float
) -> None:
    found = median_interval(upto(count))
    assert found is not None
    assert (found.low, found.high) == (low, high)
    assert found.level == pytest.approx(level, abs=1e-6)


def test_eight_documents_have_either_93_or_99_percent_and_the_rule_takes_the_safe_one() -> None:
    lower = median_interval(upto(8), 0.92)
    assert lower is not None
    assert (lower.low, lower.high) == (2, 7)
    assert lower.level == pytest.approx(0.9297, abs=1e-4)
    taken = median_interval(upto(8))
    assert taken is not None
    assert taken.level == pytest.approx(0.9922, abs=1e-4)


def test_fewer_than_six_documents_have_no_interval() -> None:
    assert [median_interval(upto(count)) for count in range(6)] == [None] * 6
    assert least_count() == 6


@given(st.integers(1, 400))
def test_the_pair_of_ranks_is_the_narrowest_that_holds_the_level(count: int) -> None:
    found = median_interval(upto(count))
    if found is None:
        assert 2 * outside(count, 1) > 0.05
        return
    rank = int(found.low)
    assert found.level >= 0.95
    assert rank == count // 2 or 1 - 2 * outside(count, rank + 1) < 0.95
    exact = 1 - 2 * sum(math.comb(count, below) for below in range(rank)) / 2**count
    assert found.level == pytest.approx(exact, abs=1e-9)


def test_many_values_cost_no_more_than_few() -> None:
    found = median_interval(range(100_000))
    assert found is not None
    assert 0.95 <= found.level < 0.952


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=60))
def test_hodges_lehmann_is_the_median_of_all_pairs(values: list[float]) -> None:
    pairs = [one / 2 + two / 2 for one, two in combinations_with_replacement(values, 2)]
    assert hodges_lehmann(values) == pytest.approx(median(pairs), rel=1e-12, abs=1e-300)


def test_hodges_lehmann_of_many_values_is_the_same_figure() -> None:
    values = [math.sin(place) * place for place in range(1200)]
    pairs = sorted(one / 2 + two / 2 for one, two in combinations_with_replacement(values, 2))
    assert hodges_lehmann(values) == pytest.approx(median(pairs), rel=1e-9)


@given(st.lists(anything, max_size=60), st.booleans())
def test_no_samples_make_nonsense(values: list[float], steady: bool) -> None:
    for found in (estimate(values, steady=steady), ratio_estimate(values, steady=steady)):
        if found is None:
            continue
        figures = [found.median, found.hodges_lehmann]
        figures += [value for value in (found.low, found.high, found.level) if value is not None]
        assert all(math.isfinite(figure) for figure in figures)
        if found.interval is not None:
            assert steady
            assert found.low is not None
            assert found.low <= found.median <= found.interval.high
            assert 0.95 <= found.interval.level < 1
        needed = documents_needed(found, 0.05)
        assert needed is None or needed >= 6


@given(st.lists(positive, min_size=1, max_size=50))
def test_a_ratio_the_other_way_round_is_its_inverse(values: list[float]) -> None:
    one, two = ratio_estimate(values), ratio_estimate([1 / value for value in values])
    assert one is not None
    assert two is not None
    assert one.hodges_lehmann == pytest.approx(1 / two.hodges_lehmann, rel=1e-6)


@given(
    st.dictionaries(st.integers(0, 9).map(str), anything),
    st.dictionaries(st.integers(0, 9).map(str), anything),
)
def test_documents_are_paired_with_themselves_alone(one: dict[str, float], two: dict[str, float]) -> None:
    ratios, differences = paired_ratios(one, two), paired_differences(one, two)
    assert set(ratios) <= set(one) & set(two)
    assert all(math.isfinite(ratio) and ratio > 0 for ratio in ratios.values())
    assert all(math.isfinite(value) for value in differences.values())


def test_percentiles_need_their_samples() -> None:
    assert percentile(upto(19), 0.95) is None
    assert percentile(upto(20), 0.95) == 19
    assert percentile(upto(99), 0.99) is None
    assert percentile(upto(100), 0.99) == 99


def test_a_narrower_interval_needs_more_documents_with_the_square() -> None:
    found = Estimate(30, 4.0, 4.0, 4.0 / 1.1, 4.0 * 1.1, 0.95)
    assert documents_needed(found, 0.1) == pytest.approx(30, abs=1)
    assert documents_needed(found, 0.05) == pytest.approx(30 * (math.log(1.1) / math.log(1.05)) ** 2, abs=1)
    assert documents_needed(Estimate(3, 4.0, 4.0), 0.05) is None
