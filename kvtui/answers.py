"""The answer to a request: its first tokens, and how far two answers to one prompt are from each other."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

NO_NUMBER = 9999.0
"""Difference from a log-probability that is no number; vLLM 0.28.0 lets none fall below −9999
(``entrypoints/openai/completion/serving.py``)."""


class Token(NamedTuple):
    """One token of an answer.

    Attributes:
        id: Its id.
        logprob: Its log-probability; ``None`` where the engine gave no number.
        other: The most probable other token of this place; ``None`` when not known.
        other_logprob: Likewise.
    """

    id: int
    logprob: float | None
    other: int | None = None
    other_logprob: float | None = None

    def of(self, token_id: int) -> float | None:
        """Log-probability of a token at this place, as far as it is told."""
        return {self.other: self.other_logprob, self.id: self.logprob}.get(token_id)


Answer = tuple[Token, ...]


def answer_from(data: Any) -> Answer | None:
    """An answer from its JSON list; ``None`` where there is none, or nothing that can be read as one."""
    if not isinstance(data, list) or not data:
        return None
    if not all(isinstance(item, list) and len(item) == len(Token._fields) for item in data):
        return None
    tokens = tuple(Token(*item) for item in data)
    return tokens if all(map(_is_token, tokens)) else None


def _is_token(token: Token) -> bool:
    return (
        type(token.id) is int
        and (token.other is None or type(token.other) is int)
        and all(value is None or _is_number(value) for value in (token.logprob, token.other_logprob))
    )


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def difference(reference: Answer, answer: Answer) -> float | None:
    """The largest difference of log-probabilities, in nats, up to and including the first token that differs.

    After that the two answer different prompts. A token that differs is looked up in the other answer; where
    it is neither of the two told there, it is at most as probable as the second, which gives a lower bound.

    Returns:
        ``None`` where the reference has no number to compare with.
    """
    largest = None
    for mine, theirs in zip(reference, answer, strict=False):
        if mine.logprob is None:
            return largest
        if theirs.logprob is None:
            return NO_NUMBER
        here = _distance(mine.id, mine.logprob, theirs)
        if mine.id != theirs.id:
            here = max(here, _distance(theirs.id, theirs.logprob, mine))
        largest = here if largest is None else max(largest, here)
        if mine.id != theirs.id:
            return largest
    return largest


def _distance(token_id: int, logprob: float, other: Token) -> float:
    """How far a token's log-probability is from what another answer says of it, at least."""
    told = other.of(token_id)
    if told is not None:
        return abs(logprob - told)
    known = [value for value in (other.logprob, other.other_logprob) if value is not None]
    return max(0.0, logprob - min(known, default=logprob))
