"""What a run asks of the served model's tokenizer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text as the tokenizer sees it.

    Attributes:
        ids: Its token ids.
        pieces: What the tokenizer calls each of them; ``None`` where the engine did not say.
    """

    ids: tuple[int, ...]
    pieces: tuple[str, ...] | None = None


Tokenize = Callable[[str], Awaitable[Tokens]]
