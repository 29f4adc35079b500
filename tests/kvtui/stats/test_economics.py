"""Price and gain, against the engine without a cache."""

from __future__ import annotations

import math
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.stats.economics import break_even, economics

times = st.dictionaries(st.integers(0, 12).map(str), st.floats(1e-3, 1e7), max_size=12)


def documents(value: float, step: float = 1.0, count: int = 8) -> dict[str, float]:
    return {f"doc-{place}": value + step * place for place in range(count)}


BARE, COLD, HIT = documents(250), documents(300), documents(80, 0.5)


def test_a_fill_a_hit_and_what_pays_for_it() -> None:
    found = economics("dram", "single", BARE, COLD, HIT, {}, hourly_price=3.6)
    assert found.fill_ms is not None
    assert found.fill_ms.median == 50
    assert found.gain_ms is not None
    assert found.gain_ms.median == pytest.approx(171.75)
    assert found.gain_ms.level == pytest.approx(0.9922, abs=1e-4)
    assert found.break_even is not None
    assert found.break_even.hits == pytest.approx(50 / 171.75, rel=1e-3)
    assert found.break_even.low is not None
    assert found.miss_ms is None
    half = found.savings[0]
    assert half.hit_rate == 0.5
    assert half.seconds.median == pytest.approx(3600 * (0.5 * 171.75 - 0.5 * 50) / 253.5, rel=1e-3)
    assert half.money == pytest.approx(half.seconds.median / 1000)


def test_a_miss_is_held_against_the_node_that_served_it() -> None:
    found = economics("disk", "fleet", BARE, COLD, {}, documents(210), serving_ms=documents(200))
    assert found.miss_ms is not None
    assert found.miss_ms.median == 10
    assert found.gain_ms is None
    assert found.break_even is None
    assert found.savings == ()


def test_a_tier_slower_than_prefill_never_pays() -> None:
    found = economics("disk", "single", BARE, COLD, documents(400), {})
    assert found.break_even is not None
    assert found.break_even.hits is None
    assert found.break_even.level is not None
    assert found.savings[1].seconds.median < 0


def test_some_documents_that_never_pay_leave_the_upper_end_open() -> None:
    found = break_even([(50.0, 100.0)] * 7 + [(50.0, -1.0)])
    assert found is not None
    assert (found.hits, found.low, found.high) == (0.5, 0.5, None)
    assert found.level is not None


def test_with_drift_there_are_figures_and_no_interval() -> None:
    found = economics("dram", "single", BARE, COLD, HIT, {}, steady_cached=False)
    assert found.fill_ms is not None
    assert found.fill_ms.interval is not None
    assert found.gain_ms is not None
    assert found.gain_ms.interval is None
    assert found.break_even is not None
    assert found.break_even.level is None
    assert all(saving.seconds.interval is None for saving in found.savings)


@given(times, times, times, times, times, st.none() | st.floats(0, 1e6))
def test_any_times_make_finite_figures(
    bare: dict[str, float],
    cold: dict[str, float],
    hit: dict[str, float],
    miss: dict[str, float],
    serving: dict[str, float],
    price: float | None,
) -> None:
    found = economics("t", "single", bare, cold, hit, miss, serving_ms=serving, hourly_price=price)

    def numbers(value: object) -> list[float]:
        if isinstance(value, dict):
            return [one for part in value.values() for one in numbers(part)]
        if isinstance(value, list | tuple):
            return [one for part in value for one in numbers(part)]
        return [value] if isinstance(value, float) else []

    assert all(math.isfinite(value) for value in numbers(asdict(found)))
