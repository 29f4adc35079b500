"""Drift is found where it is, and not where it is not."""

from __future__ import annotations

import math
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.stats.trend import DRIFT_ALPHA, drift, trend_chance


def test_the_chance_is_that_of_all_orders() -> None:
    orders = list(permutations(range(6)))
    inversions = [
        sum(one > two for place, one in enumerate(order) for two in order[place:]) for order in orders
    ]
    for order, count in zip(orders[::37], inversions[::37], strict=True):
        extreme = min(count, 15 - count)
        exact = sum(min(other, 15 - other) <= extreme for other in inversions) / len(orders)
        assert trend_chance(order) == pytest.approx(exact)


def test_a_rise_of_3_percent_is_found_with_its_size() -> None:
    noise = np.random.default_rng(1)
    values = [300 * (1 + 0.03 * place / 29) * math.exp(noise.normal(0, 0.003)) for place in range(30)]
    found = drift(values)
    assert found is not None
    assert found.size == pytest.approx(0.03, abs=0.01)
    assert found.chance <= DRIFT_ALPHA
    back = drift(values[::-1])
    assert back is not None
    assert back.size == pytest.approx(-0.03, abs=0.01)


def test_noise_that_is_all_alike_and_tiny_trends_are_no_drift() -> None:
    assert drift([300.0] * 30) is None
    assert drift([300 * (1 + 0.0001 * place) for place in range(30)]) is None
    noise = np.random.default_rng(2)
    assert drift([math.exp(noise.normal(0, 0.05)) for _ in range(30)]) is None


def test_one_wild_request_makes_no_drift() -> None:
    noise = np.random.default_rng(3)
    values = [300 * math.exp(noise.normal(0, 0.01)) for _ in range(29)]
    assert drift([*values, 30_000.0]) is None


def test_a_long_pass_is_judged_too() -> None:
    noise = np.random.default_rng(4)
    found = drift([300 * (1 + 0.1 * place / 4999) * math.exp(noise.normal(0, 0.02)) for place in range(5000)])
    assert found is not None
    assert found.size == pytest.approx(0.1, abs=0.01)


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=80))
def test_any_values_have_a_drift_or_none(values: list[float]) -> None:
    found = drift(values)
    if found is not None:
        assert math.isfinite(found.size)
        assert found.size > -1
        assert 0 <= found.chance <= DRIFT_ALPHA


@given(st.lists(st.floats(1, 1e6), min_size=2, max_size=70))
def test_the_chance_is_one_and_the_same_from_either_end(values: list[float]) -> None:
    assert trend_chance(values) == pytest.approx(trend_chance(values[::-1]))
    assert 0 <= trend_chance(values) <= 1
    if all(one < two for one, two in pairwise(values)) and len(values) >= 7:
        assert trend_chance(values) < DRIFT_ALPHA
