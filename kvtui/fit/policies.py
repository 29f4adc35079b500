"""The order in which LMCache's cache policies give chunks up.

Read from LMCache 0.5.4, ``v1/storage_backend/cache_policy``. A chunk is an integer here; what matters is its
place in the order.
"""

from __future__ import annotations

from collections import OrderedDict
from enum import StrEnum
from typing import Protocol


class EngineBreaks(Exception):
    """LMCache fails with an error of its own, and its engine with it."""


class Policy(StrEnum):
    """LMCache's ``cache_policy``."""

    LRU = "LRU"
    LFU = "LFU"
    FIFO = "FIFO"
    MRU = "MRU"


class Residents(Protocol):
    """The chunks in a tier, in the order of a policy."""

    def __contains__(self, chunk: object) -> bool:
        """Whether the chunk is in the tier."""

    def announce(self, chunk: int) -> None:
        """Tell the policy of a store; on disk this comes before the chunk is there."""

    def insert(self, chunk: int) -> None:
        """Let a chunk be there."""

    def hit(self, chunk: int) -> None:
        """Tell the policy of a use."""

    def evict(self) -> int | None:
        """Give one chunk up, and say which; ``None`` when there is none.

        Raises:
            EngineBreaks: The policy picks a chunk that is not there, as LMCache's does.
        """


class _Ordered:
    """Chunks in the order of their insertion, or of their last use."""

    def __init__(self, *, moves: bool, newest_first: bool) -> None:
        self._chunks: OrderedDict[int, None] = OrderedDict()
        self._moves = moves
        self._newest_first = newest_first

    def __contains__(self, chunk: object) -> bool:
        return chunk in self._chunks

    def announce(self, chunk: int) -> None:
        """Nothing: these policies go by the order alone."""

    def insert(self, chunk: int) -> None:
        self._chunks[chunk] = None

    def hit(self, chunk: int) -> None:
        if self._moves:
            self._chunks.move_to_end(chunk)

    def evict(self) -> int | None:
        if not self._chunks:
            return None
        return self._chunks.popitem(last=self._newest_first)[0]


class _Frequency:
    """Chunks by how often they were used; among equals, first in first out.

    A store counts as the first use even of a chunk that is there already, which then stands in two buckets:
    so it is in LMCache, and the model keeps it.
    """

    def __init__(self) -> None:
        self._chunks: set[int] = set()
        self._uses: dict[int, int] = {}
        self._buckets: dict[int, OrderedDict[int, None]] = {}

    def __contains__(self, chunk: object) -> bool:
        return chunk in self._chunks

    def _leave(self, uses: int, chunk: int) -> None:
        bucket = self._buckets[uses]
        del bucket[chunk]
        if not bucket:
            del self._buckets[uses]

    def announce(self, chunk: int) -> None:
        self._uses[chunk] = 1
        self._buckets.setdefault(1, OrderedDict())[chunk] = None

    def insert(self, chunk: int) -> None:
        self._chunks.add(chunk)

    def hit(self, chunk: int) -> None:
        uses = self._uses[chunk]
        self._leave(uses, chunk)
        self._uses[chunk] = uses + 1
        self._buckets.setdefault(uses + 1, OrderedDict())[chunk] = None

    def evict(self) -> int | None:
        if not self._buckets:
            return None
        least = min(self._buckets)
        chunk = next(iter(self._buckets[least]))
        if chunk not in self._chunks:
            raise EngineBreaks
        self._chunks.remove(chunk)
        del self._uses[chunk]
        self._leave(least, chunk)
        return chunk


def residents(policy: Policy) -> Residents:
    """An empty tier with that policy."""
    if policy is Policy.LFU:
        return _Frequency()
    return _Ordered(moves=policy in (Policy.LRU, Policy.MRU), newest_first=policy is Policy.MRU)
