"""The order of the tiers over the repeats of a campaign."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.tier_order import tier_order

counts = st.integers(1, 12)


def names(count: int) -> tuple[str, ...]:
    return tuple(f"tier-{number}" for number in range(count))


@given(count=counts, repeats=st.integers(1, 50))
def test_every_tier_comes_once_a_repeat_and_the_first_is_as_listed(count: int, repeats: int) -> None:
    tiers = names(count)
    rows = tier_order(tiers, repeats)
    assert len(rows) == repeats
    assert rows[0] == tiers
    assert all(sorted(row) == sorted(tiers) for row in rows)
    assert rows == tier_order(tiers, repeats)


@given(count=counts)
def test_over_as_many_repeats_as_tiers_each_has_each_place_once(count: int) -> None:
    rows = tier_order(names(count), count)
    if count != 2:
        assert len(set(rows)) == count
    assert all(len(set(column)) == count for column in zip(*rows, strict=True))


@given(count=counts)
def test_each_tier_follows_each_other_one_equally_often(count: int) -> None:
    repeats = count if count % 2 == 0 else 2 * count
    followed = Counter(pair for row in tier_order(names(count), repeats) for pair in pairwise(row))
    assert len(followed) == count * (count - 1)
    assert set(followed.values()) <= {1 if count % 2 == 0 else 2}


@given(count=counts)
def test_two_repeats_are_the_list_and_its_reverse(count: int) -> None:
    tiers = names(count)
    assert tier_order(tiers, 2) == (tiers, tiers[::-1])


@given(half=st.integers(1, 6), repeats=st.integers(1, 25))
def test_an_even_number_of_repeats_is_balanced_against_an_even_drift(half: int, repeats: int) -> None:
    tiers = names(2 * half)
    rows = tier_order(tiers, 2 * repeats)
    assert {sum(row.index(tier) for row in rows) for tier in tiers} == {repeats * (2 * half - 1)}


@pytest.mark.parametrize(
    ("repeats", "rows"),
    [
        (1, ["abcd"]),
        (2, ["abcd", "dcba"]),
        (3, ["abcd", "dcba", "bdac"]),
        (4, ["abcd", "dcba", "bdac", "cadb"]),
    ],
)
def test_the_rows_of_four_tiers(repeats: int, rows: list[str]) -> None:
    assert ["".join(row) for row in tier_order(tuple("abcd"), repeats)] == rows
