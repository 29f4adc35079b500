"""Faster, slower, reproduced: claimed when shown, and never by accident."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.stats.compare import Claim, Reproduced, compare, equivalent

times = st.dictionaries(st.integers(0, 40).map(str), st.floats(0.001, 1e7), max_size=40)


def documents(values: list[float]) -> dict[str, float]:
    return {f"doc-{place}": value for place, value in enumerate(values)}


NOISE = [1.02, 0.97, 1.01, 0.99, 1.03, 0.98, 1.0, 1.01]
FAST, SLOW = documents([80 * noise for noise in NOISE]), documents([100.0] * 8)


def test_a_faster_tier_is_called_faster_and_the_other_slower() -> None:
    assert compare(FAST, SLOW).claim is Claim.FASTER
    assert compare(SLOW, FAST).claim is Claim.SLOWER


def test_where_documents_disagree_no_difference_is_shown() -> None:
    mixed = documents([80.0] * 7 + [120.0])
    assert compare(mixed, SLOW).claim is Claim.NOT_SHOWN
    assert compare(SLOW, SLOW).claim is Claim.NOT_SHOWN


def test_five_documents_show_nothing_however_fast() -> None:
    assert compare(documents([1.0] * 5), documents([100.0] * 5)).claim is Claim.NOT_SHOWN


def test_with_drift_only_documents_that_all_agree_are_a_claim() -> None:
    drifting = compare(FAST, SLOW, steady=False)
    assert drifting.claim is Claim.FASTER
    assert drifting.ratio is not None
    assert drifting.ratio.interval is None
    most = documents([80.0] * 29 + [101.0])
    other = documents([100.0] * 30)
    assert compare(most, other).claim is Claim.FASTER
    assert compare(most, other, steady=False).claim is Claim.NOT_SHOWN


def test_a_repetition_within_the_margin_is_reproduced() -> None:
    found = equivalent(documents([100.0] * 8), documents([100 * noise for noise in NOISE]), 0.1)
    assert found.outcome is Reproduced.WITHIN
    assert found.alpha == pytest.approx(9 / 256)
    assert found.low is not None
    assert found.low >= 0.97


def test_a_repetition_beyond_it_is_not_and_a_noisy_one_shows_neither() -> None:
    base = documents([100.0] * 8)
    assert equivalent(base, documents([125 * noise for noise in NOISE]), 0.1).outcome is Reproduced.BEYOND
    wide = documents([80.0, 120.0, 95.0, 130.0, 75.0, 100.0, 105.0, 90.0])
    assert equivalent(base, wide, 0.1).outcome is Reproduced.NOT_SHOWN
    few = equivalent(documents([100.0] * 4), documents([100.0] * 4), 0.1)
    assert few.outcome is Reproduced.NOT_SHOWN
    assert few.alpha is None


@given(times, times, st.floats(0.001, 1), st.booleans())
def test_any_two_measurements_can_be_compared(
    one: dict[str, float], two: dict[str, float], within: float, steady: bool
) -> None:
    there, back = compare(one, two, steady=steady).claim, compare(two, one, steady=steady).claim
    opposite = {Claim.FASTER: Claim.SLOWER, Claim.SLOWER: Claim.FASTER, Claim.NOT_SHOWN: Claim.NOT_SHOWN}
    assert back is opposite[there]
    found = equivalent(one, two, within)
    assert found.n == len(set(one) & set(two))
    for value in (found.ratio, found.low, found.high, found.alpha):
        assert value is None or math.isfinite(value)
    assert found.alpha is None or found.alpha <= 0.05
