"""Repeats against each other: what is planted is found, and what is alike stays quiet."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import simulated_repeats as simulation
from bench.simulation import NOISES
from kvtui.stats.estimate import Estimate, documents_needed, paired_ratios, ratio_estimate
from kvtui.stats.repeats import SHIFT_FROM, Shift, repeats_needed, shift

TIMES = st.floats(1e-3, 1e6)


def test_a_slow_repeat_is_found_with_its_size() -> None:
    rng = np.random.default_rng(1)
    own = simulation.repeats_of(rng, NOISES["lognormal, 5 %"], 30, 3, (1.0, 1.0, 1.2))
    found = shift(own)
    assert found is not None
    assert found.slowest == 2
    assert found.matters
    assert found.low < 0.2 < found.high
    assert found.size == pytest.approx(0.2, abs=0.06)


@pytest.mark.parametrize(("effects", "trend"), [((1, 1.2, 1.4), 1), ((1.4, 1.2, 1), -1), ((1, 1.4, 1.2), 0)])
def test_a_trend_over_the_repeats_is_told_from_one_that_stands_out(
    effects: tuple[float, ...], trend: int
) -> None:
    own = simulation.repeats_of(np.random.default_rng(2), NOISES["skewed"], 30, 3, effects)
    found = shift(own)
    assert found is not None
    assert found.trend == trend


def test_eight_documents_are_enough_for_three_repeats_and_nine_for_two() -> None:
    def planted(documents: int, repeats: int) -> Shift | None:
        return shift(
            [{f"d{n}": (100 + n) * (1 + 0.1 * at) for n in range(documents)} for at in range(repeats)]
        )

    assert planted(8, 3) is not None
    assert planted(8, 2) is None
    assert planted(9, 2) is not None
    assert planted(5, 10) is None  # no interval, so no claim


def test_a_difference_that_changes_no_conclusion_is_no_finding() -> None:
    own = [{f"d{n}": 100.0 + n for n in range(30)} for _ in range(2)]
    assert shift([own[0], {name: value * (1 + SHIFT_FROM / 2) for name, value in own[1].items()}]) is None
    found = shift([own[0], {name: value * 1.02 for name, value in own[1].items()}])
    assert found is not None
    assert not found.matters


@given(st.lists(st.lists(TIMES, min_size=8, max_size=8), min_size=1, max_size=5), st.floats(0.01, 100))
def test_the_unit_of_time_does_not_matter_and_nothing_raises(rows: list[list[float]], unit: float) -> None:
    own = [{f"d{n}": value for n, value in enumerate(row)} for row in rows]
    one, two = shift(own), shift([{name: value * unit for name, value in each.items()} for each in own])
    if one is None or two is None:
        # At the borders rounding may decide.
        edge = one or two
        assert edge is None or edge.size < SHIFT_FROM * 1.001 or edge.low < 1e-9
    else:
        assert one.size == pytest.approx(two.size, rel=1e-6)
        assert one.slowest == two.slowest


@given(st.integers(0, 2**32 - 1))
def test_documents_that_a_repeat_lacks_are_left_out(seed: int) -> None:
    own = simulation.repeats_of(np.random.default_rng(seed), NOISES["skewed"], 12, 3, (1, 1, 1.5))
    more = [{**own[0], "lost": 1.0}, {**own[1], "failed": math.nan}, own[2]]
    assert shift(more) == shift(own)
    assert shift([{}, {}]) is None
    assert shift(own[:1]) is None


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize(("count", "repeats"), [(8, 3), (12, 2), (20, 4)])
def test_whole_campaigns_rarely_raise_a_wrong_alarm(name: str, count: int, repeats: int) -> None:
    campaigns = 100
    alarms = sum(
        simulation.alarmed(np.random.default_rng((7, number)), NOISES[name], count, repeats)
        for number in range(campaigns)
    )
    assert alarms / campaigns <= 0.05 + 5 * math.sqrt(0.05 * 0.95 / campaigns)


def test_more_repeats_help_as_far_as_they_are_what_varies() -> None:
    rng = np.random.default_rng(3)
    ratios = [
        {f"d{n}": 4 * math.exp(rng.normal(0, 0.1)) for n in range(60)} for _ in range(3)
    ]  # documents alike, repeats of them not
    found = _of(ratios)
    more = repeats_needed(ratios, found, 0.012)
    fewer = repeats_needed(ratios, found, 0.03)
    assert more is not None
    assert fewer is not None
    assert more > 3 > fewer
    wanted = documents_needed(found, 0.012)
    assert wanted is not None
    assert wanted > found.n


def test_no_number_of_repeats_mends_documents_that_differ() -> None:
    rng = np.random.default_rng(4)
    each = {f"d{n}": 4 * math.exp(rng.normal(0, 0.3)) for n in range(30)}
    ratios = [{name: value * math.exp(rng.normal(0, 0.01)) for name, value in each.items()} for _ in range(3)]
    assert repeats_needed(ratios, _of(ratios), 0.02) is None
    assert repeats_needed(ratios[:1], _of(ratios[:1]), 0.02) is None


def _of(ratios: list[dict[str, float]]) -> Estimate:
    middles = {name: float(np.median([one[name] for one in ratios])) for name in ratios[0]}
    found = ratio_estimate(paired_ratios(middles, dict.fromkeys(middles, 1.0)).values())
    assert found is not None
    return found


@pytest.mark.parametrize("repeats", [3, 4, 7])
def test_the_chance_falls_as_the_shift_grows(repeats: int) -> None:
    rng = np.random.default_rng(5)
    noise = [{f"d{n}": 100 * math.exp(rng.normal(0, 0.02)) for n in range(40)} for _ in range(repeats)]
    chances = []
    for by in (0.03, 0.06, 0.12):
        planted = [*noise[:-1], {name: value * (1 + by) for name, value in noise[-1].items()}]
        found = shift(planted)
        assert found is not None
        chances.append(found.chance)
    assert all(after <= before for before, after in pairwise(chances))
    assert chances[-1] < chances[0]
