"""The tokens of an answer with their log-probabilities, as far as the engine tells them.

vLLM 0.28.0 (``entrypoints/openai/completion``): with ``logprobs`` each message of a stream has the lists
``tokens``, ``token_logprobs`` and ``top_logprobs``; with ``return_tokens_as_token_ids`` a token is called
``token_id:N``, so that two tokens of the same text are told apart.
"""

from __future__ import annotations

import math
from typing import Any, List, Optional, Tuple

KEPT_TOKENS = 32
_PREFIX = "token_id:"

Token = List[Any]
"""Id and log-probability of the token, then those of the most probable other one; None where not known."""


class Answer:
    """The first tokens of one answer, as its messages come in."""

    def __init__(self) -> None:
        self._tokens: List[Token] = []
        self._count = 0
        self._unknown = False

    def take(self, logprobs: Any) -> None:
        """Take what a message says of its tokens; what has no known shape makes the answer unknown."""
        if logprobs is None or self._unknown:
            return
        try:
            values, tops = logprobs["token_logprobs"], logprobs["top_logprobs"]
            for place, name in enumerate(logprobs["tokens"]):
                self._count += 1
                if len(self._tokens) < KEPT_TOKENS:
                    self._tokens.append(_token(name, values[place], tops[place]))
        except (AttributeError, LookupError, OverflowError, TypeError, ValueError):
            self._unknown = True

    def known(self, completion_tokens: Optional[int]) -> Optional[List[Token]]:
        """The first tokens; None unless the engine told of every token that it counted."""
        if self._unknown or not self._tokens or self._count != completion_tokens:
            return None
        return self._tokens


def _token(name: Any, value: Any, top: Any) -> Token:
    token_id = _id(name)
    others = [_other(*item) for item in (top or {}).items() if item[0] != name]
    # A place without a number is as unlikely as can be.
    second = max(others, key=lambda other: -math.inf if other[1] is None else other[1], default=(None, None))
    return [token_id, _number(value), *second]


def _other(name: Any, value: Any) -> Tuple[int, Optional[float]]:
    return _id(name), _number(value)


def _id(name: Any) -> int:
    if not isinstance(name, str) or not name.startswith(_PREFIX):
        raise ValueError("a token has no id")
    return int(name[len(_PREFIX) :])


def _number(value: Any) -> Optional[float]:
    """A log-probability; None for what is none, such as the NaN of broken KV."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return round(value, 7)
