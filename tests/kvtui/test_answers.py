"""Answers are read from their JSON, and two of them are compared as far as they can be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.answers import NO_NUMBER, Answer, Token, answer_from, difference

logprobs = st.floats(-50, 0, allow_nan=False)


@st.composite
def greedy_tokens(draw: st.DrawFn) -> Token:
    first, second = draw(st.lists(st.integers(0, 9), min_size=2, max_size=2, unique=True))
    high = draw(logprobs)
    return Token(first, high, second, high - draw(st.floats(0, 20)))


answers = st.lists(greedy_tokens(), min_size=1, max_size=8).map(tuple)


@given(answers)
def test_an_answer_does_not_differ_from_itself(answer: Answer) -> None:
    assert difference(answer, answer) == 0


@given(answers, answers)
def test_the_difference_is_the_same_both_ways_and_finite(one: Answer, other: Answer) -> None:
    there = difference(one, other)
    assert there == difference(other, one)
    assert there is not None
    assert 0 <= there < NO_NUMBER


@given(answers, answers, answers)
def test_what_follows_the_first_token_that_differs_does_not_count(one: Answer, a: Answer, b: Answer) -> None:
    flipped = Token(99, -0.5, 98, -1.5)
    assert difference((*one, flipped), (*one, Token(97, -0.5, 99, -0.6), *a)) == difference(
        (*one, flipped, *b), (*one, Token(97, -0.5, 99, -0.6))
    )


@given(answers, st.floats(0, 5), st.integers(0, 7))
def test_a_log_probability_that_moved_is_found_whole(answer: Answer, by: float, place: int) -> None:
    place %= len(answer)
    moved = answer[place]._replace(logprob=(answer[place].logprob or 0) + by)
    found = difference(answer, (*answer[:place], moved, *answer[place + 1 :]))
    assert found == pytest.approx(by, abs=1e-9)


@given(st.lists(st.floats(-1e-3, 1e-3), min_size=4, max_size=4), greedy_tokens())
def test_noise_never_looks_larger_than_it_is(noise: list[float], token: Token) -> None:
    """Whichever token wins after noise, the difference is no more than the noise itself."""
    assert token.logprob is not None
    assert token.other_logprob is not None
    assert token.other is not None
    values = [
        (token.logprob + noise[0], token.id),
        (token.other_logprob + noise[1], token.other),
        (token.other_logprob - 1e-3 + noise[2], 100),
    ]
    (first, first_id), (second, second_id), _ = sorted(values, reverse=True)
    noisy = Token(first_id, first, second_id, second)
    found = difference((token,), (noisy,))
    assert found is not None
    assert found <= max(map(abs, noise)) + 1e-9


def test_a_token_that_flips_between_two_equals_is_no_difference() -> None:
    one, other = (Token(1, -0.70, 2, -0.701),), (Token(2, -0.70, 1, -0.702),)
    assert difference(one, other) == pytest.approx(0.002)


def test_a_token_that_the_other_answer_never_considered_is_one() -> None:
    one, other = (Token(1, -0.1, 2, -3.0),), (Token(3, -0.1, 4, -3.0),)
    assert difference(one, other) == pytest.approx(2.9)


def test_a_log_probability_that_is_no_number_is_as_far_as_can_be() -> None:
    number, none = Token(1, -0.1, 2, -3.0), Token(1, None, 2, None)
    assert difference((number, number), (number, none)) == NO_NUMBER
    assert difference((none, number), (number, number)) is None
    assert difference((number, none), (number, number)) == 0


@given(answers)
def test_an_answer_is_read_back_from_its_json(answer: Answer) -> None:
    assert answer_from(json.loads(json.dumps(answer))) == answer


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        "[[1, -1.0, null, null]]",
        [[1, -1.0]],
        [[1.5, -1.0, None, None]],
        [[True, -1.0, None, None]],
        [[1, "-1.0", None, None]],
        [[1, float("nan"), None, None]],
        [[1, -1.0, "2", -2.0]],
        [[1, -1.0, None, None], None],
    ],
)
def test_what_is_no_answer_is_unknown(data: Any) -> None:
    assert answer_from(data) is None
