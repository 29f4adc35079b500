"""First requests, outliers, two groups: planted, and quiet without."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kvtui.stats.shape import outliers, two_groups, unlike_first

EVEN = [100 + np.random.default_rng(place).normal(0, 3) for place in range(30)]


def test_requests_far_from_the_rest_are_outliers() -> None:
    values = [*EVEN]
    values[7], values[20] = 250.0, 30.0
    assert outliers(values) == (7, 20)
    assert outliers(EVEN) == ()
    assert outliers([1.0, 100.0]) == ()


def test_values_that_are_all_alike_have_no_outlier_below_a_tenth() -> None:
    assert outliers([100.0] * 29 + [109.0]) == ()
    assert outliers([100.0] * 29 + [111.0]) == (29,)


def test_two_groups_are_told_with_their_sizes() -> None:
    found = two_groups([value * (3 if place % 3 == 0 else 1) for place, value in enumerate(EVEN)])
    assert found is not None
    assert (found.low_n, found.high_n) == (20, 10)
    assert found.high > 2.5 * found.low
    assert two_groups(EVEN) is None
    assert two_groups([100.0, 300.0] * 5) is None


def test_even_spread_and_a_long_tail_are_one_group() -> None:
    assert two_groups([float(value) for value in range(100, 200)]) is None
    assert two_groups([100 + np.random.default_rng(place).exponential(20) for place in range(100)]) is None
    assert two_groups([100.0] * 50) is None


@given(st.lists(st.floats(1e-6, 1e12), max_size=80))
def test_any_values_can_be_looked_at(values: list[float]) -> None:
    assert 0 <= unlike_first(values) <= -(-len(values) // 4)
    assert all(0 <= place < len(values) for place in outliers(values))
    found = two_groups(values)
    if found is not None:
        assert found.low_n + found.high_n == len(values)
        assert found.low < found.high
