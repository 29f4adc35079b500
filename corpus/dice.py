"""Chance that falls the same way on every machine and every Python."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Draws from a seed.

    Only ``Random.random`` is used: it is the one method whose sequence Python promises to keep between
    versions. ``choice``, ``shuffle`` and ``sample`` have changed and may change again.
    """

    __slots__ = ("_decks", "random")

    def __init__(self, *seed: object) -> None:
        digest = hashlib.sha256("\x1f".join(str(part) for part in seed).encode()).digest()
        self.random = random.Random(int.from_bytes(digest, "big")).random  # noqa: S311  not for secrets
        self._decks: dict[str, list[int]] = {}

    def below(self, limit: int) -> int:
        """A whole number from 0 to ``limit`` - 1."""
        return int(self.random() * limit)

    def between(self, low: int, high: int, step: int = 1) -> int:
        """A whole number from ``low`` to ``high``, both included, in steps."""
        return low + step * int(self.random() * ((high - low) // step + 1))

    def uniform(self, low: float, high: float) -> float:
        """A number from ``low`` up to ``high``."""
        return low + self.random() * (high - low)

    def chance(self, probability: float) -> bool:
        """True with the probability given."""
        return self.random() < probability

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[int(self.random() * len(items))]

    def take(self, items: Sequence[T], count: int) -> list[T]:
        """``count`` different items in a random order."""
        pool = list(items)
        return [_draw(pool, self.random()) for _ in range(min(count, len(pool)))]

    def deal(self, name: str, size: int) -> int:
        """An index below ``size``; none comes twice under one name before all have come once."""
        deck = self._decks.get(name)
        if not deck:
            deck = self._decks[name] = list(range(size))
        return _draw(deck, self.random())


def _draw(pool: list[T], fraction: float) -> T:
    """Take out the item at a fraction of the pool; the last one takes its place."""
    index = int(fraction * len(pool))
    last = pool.pop()
    if index == len(pool):
        return last
    drawn = pool[index]
    pool[index] = last
    return drawn
