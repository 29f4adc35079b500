"""Chance that must fall the same way for ever."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from corpus.dice import Dice


def test_the_sequence_of_a_seed_is_fixed() -> None:
    dice = Dice("kvtui", 1)
    assert [dice.below(1000) for _ in range(6)] == FIXED


FIXED = [734, 850, 393, 628, 857, 704]


@given(st.integers(), st.integers(1, 40))
def test_a_deal_repeats_nothing_before_all_have_come(seed: int, size: int) -> None:
    dice = Dice(seed)
    for _ in range(3):
        assert sorted(dice.deal("deck", size) for _ in range(size)) == list(range(size))


@given(st.integers(), st.integers(-50, 50), st.integers(0, 60), st.integers(1, 7))
def test_between_keeps_its_limits_and_steps(seed: int, low: int, span: int, step: int) -> None:
    value = Dice(seed).between(low, low + span, step)
    assert low <= value <= low + span
    assert (value - low) % step == 0


@given(st.integers(), st.integers(0, 20))
def test_take_gives_different_items(seed: int, count: int) -> None:
    taken = Dice(seed).take(range(15), count)
    assert len(taken) == len(set(taken)) == min(count, 15)


def test_seeds_are_told_apart_part_by_part() -> None:
    assert Dice("a", "bc").random() != Dice("ab", "c").random()
