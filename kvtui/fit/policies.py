"""The order in which LMCache's cache policies give chunks up.

Read from LMCache 0.5.4, ``v1/storage_backend/cache_policy``. A chunk is an integer here; what matters is its
place in the order.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

from kvtui.plan import Policy


class Residents(Protocol):
    """The chunks in a tier, in the order of a policy."""

    def __contains__(self, chunk: object) -> bool:
        """Whether the chunk is in the tier."""

    def insert(self, chunk: int) -> None:
        """Tell the policy of a chunk that was stored."""

    def hit(self, chunk: int) -> None:
        """Tell the policy of a use."""

    def evict(self) -> int | None:
        """Give one chunk up, and say which; ``None`` when there is none."""


class _Ordered:
    """Chunks in the order of their insertion, or of their last use."""

    def __init__(self, *, moves: bool, newest_first: bool) -> None:
        self._chunks: OrderedDict[int, None] = OrderedDict()
        self._moves = moves
        self._newest_first = newest_first

    def __contains__(self, chunk: object) -> bool:
        return chunk in self._chunks

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
    """Chunks by how often they were used; among equals, first in first out."""

    def __init__(self) -> None:
        self._uses: dict[int, int] = {}
        self._buckets: dict[int, OrderedDict[int, None]] = {}

    def __contains__(self, chunk: object) -> bool:
        return chunk in self._uses

    def _enter(self, chunk: int, uses: int) -> None:
        self._uses[chunk] = uses
        self._buckets.setdefault(uses, OrderedDict())[chunk] = None

    def _leave(self, chunk: int) -> int:
        uses = self._uses.pop(chunk)
        bucket = self._buckets[uses]
        del bucket[chunk]
        if not bucket:
            del self._buckets[uses]
        return uses

    def insert(self, chunk: int) -> None:
        self._enter(chunk, 1)

    def hit(self, chunk: int) -> None:
        self._enter(chunk, self._leave(chunk) + 1)

    def evict(self) -> int | None:
        if not self._buckets:
            return None
        chunk = next(iter(self._buckets[min(self._buckets)]))
        self._leave(chunk)
        return chunk


def residents(policy: Policy) -> Residents:
    """An empty tier with that policy."""
    if policy is Policy.LFU:
        return _Frequency()
    return _Ordered(moves=policy in (Policy.LRU, Policy.MRU), newest_first=policy is Policy.MRU)
