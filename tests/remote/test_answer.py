"""What the probe keeps of an answer's log-probabilities, whatever the engine sends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remote.onnode.answer import KEPT_TOKENS, Answer
from tests.remote.probe_job import Pass
from tests.remote.scripted_engine import chunk, complete, last, scripted_engine


def told(*tokens: tuple[int, Any, dict[int, Any]]) -> dict[str, Any]:
    """What vLLM says of tokens: id, log-probability, those of the most probable ones."""
    return {
        "tokens": [f"token_id:{token}" for token, _, _ in tokens],
        "token_logprobs": [value for _, value, _ in tokens],
        "top_logprobs": [{f"token_id:{other}": at for other, at in top.items()} for _, _, top in tokens],
        "text_offset": [0 for _ in tokens],
    }


def kept(*messages: Any, completion_tokens: int | None = 1) -> list[list[Any]] | None:
    answer = Answer()
    for message in messages:
        answer.take(message)
    return answer.known(completion_tokens)


def test_a_pass_keeps_each_token_and_the_most_probable_other_one(tmp_path: Path) -> None:
    first = chunk("A", choice={"logprobs": told((7, -0.12345678901, {7: -0.12345678901, 9: -2.5}))})
    second = chunk("B", choice={"logprobs": told((9, -1.0, {9: -1.0, 7: -3.0}))})
    with scripted_engine(complete(first, second, last())) as engine:
        done = Pass(tmp_path, engine.port).result()
    assert done["kind"] == "done"
    assert done["answer"] == [[7, -0.1234568, 9, -2.5], [9, -1.0, 7, -3.0]]


def test_a_token_beyond_the_two_most_probable_has_the_first_of_them_beside_it() -> None:
    assert kept(told((5, -9.0, {5: -9.0, 1: -0.5, 2: -2.0}))) == [[5, -9.0, 1, -0.5]]


@pytest.mark.parametrize("value", [None, float("nan"), float("-inf"), float("inf"), True, "-1", [], 10**400])
def test_what_is_no_number_is_kept_as_none(value: Any) -> None:
    found = kept(told((7, value, {7: value, 9: value})))
    assert found in ([[7, None, 9, None]], None)
    assert found is None or json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.parametrize(
    "logprobs",
    [
        {},
        [],
        "logprobs",
        7,
        {"tokens": ["A"], "token_logprobs": [-1.0], "top_logprobs": [{"A": -1.0}]},
        {"tokens": ["token_id:x"], "token_logprobs": [-1.0], "top_logprobs": [None]},
        {"tokens": [None], "token_logprobs": [-1.0], "top_logprobs": [None]},
        {"tokens": ["token_id:1"], "token_logprobs": [-1.0], "top_logprobs": [3]},
        {"tokens": ["token_id:1"], "token_logprobs": [-1.0]},
        {"tokens": ["token_id:1"], "token_logprobs": [], "top_logprobs": []},
        {"tokens": None, "token_logprobs": None, "top_logprobs": None},
    ],
)
def test_an_unknown_shape_makes_the_answer_unknown_and_never_fails(logprobs: Any) -> None:
    assert kept(logprobs) is None
    assert kept(told((7, -1.0, {})), logprobs, completion_tokens=2) is None


def test_an_answer_with_a_hole_is_unknown() -> None:
    whole = told((7, -1.0, {7: -1.0, 9: -2.0}))
    assert kept(whole, None, completion_tokens=2) is None
    assert kept(whole, whole, completion_tokens=2) is not None
    assert kept(whole, completion_tokens=None) is None
    assert kept(None) is None


def test_a_long_answer_is_kept_in_part() -> None:
    found = kept(*[told((n, -1.0, {n: -1.0})) for n in range(100)], completion_tokens=100)
    assert found == [[n, -1.0, None, None] for n in range(KEPT_TOKENS)]


_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=12,
)


@given(
    st.lists(
        _anything
        | st.fixed_dictionaries(
            {"tokens": _anything, "token_logprobs": _anything, "top_logprobs": _anything},
        ),
        max_size=3,
    ),
    st.integers(0, 3),
)
def test_whatever_the_engine_says_the_answer_is_json_or_unknown(messages: list[Any], tokens: int) -> None:
    found = kept(*messages, completion_tokens=tokens)
    assert found is None or (len(found) == tokens and json.dumps(found, allow_nan=False))
