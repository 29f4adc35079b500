"""LMCache's DRAM and disk tiers, chunk by chunk, for one request at a time.

Read from LMCache 0.5.4: ``v1/cache_engine.py`` (lookup, store), ``v1/storage_backend/local_cpu_backend.py``
and ``local_disk_backend.py``. Both find the chunks of a prompt up to the first that is missing, and touch
those alone, the last one first.
"""

from __future__ import annotations

import random
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Protocol

from kvtui.fit.policies import residents
from kvtui.fit.scan import Scan, pass_order
from kvtui.plan import Policy

# LMCache's ``disk_io_threads``.
DISK_THREADS = 4

Hits = tuple[tuple[int, ...], ...]
"""Chunks found of each document, by document, in every pass."""


class _Backend(Protocol):
    def find(self, chunks: Sequence[int]) -> int:
        """How many of a document's chunks are found, and are then used."""

    def store(self, batch: Sequence[int]) -> None:
        """Take the chunks of one step."""


class Dram:
    """The DRAM tier: blocks are allocated for a whole step, then its chunks become reusable."""

    def __init__(self, blocks: int, policy: Policy) -> None:
        self._free = blocks
        self._residents = residents(policy)

    def find(self, chunks: Sequence[int]) -> int:
        """How many of a document's chunks are found, and are then used."""
        found = _prefix(chunks, self._residents)
        for chunk in reversed(chunks[:found]):
            self._residents.hit(chunk)
        return found

    def store(self, batch: Sequence[int]) -> None:
        """Take the chunks of one step; what finds no block is dropped with all that follow it."""
        allocated = 0
        for _ in batch:
            if self._free == 0:
                if self._residents.evict() is None:
                    break
                self._free += 1
            self._free -= 1
            allocated += 1
        for chunk in batch[:allocated]:
            if chunk in self._residents:
                self._free += 1
            else:
                self._residents.insert(chunk)


class Disk:
    """The disk tier: room is made chunk by chunk, and a chunk is there once its file is written.

    A chunk that is there and is stored again counts twice and is given back once, so capacity leaks; a chunk
    for which there was no room is never taken again. Only for LRU and FIFO, which give up the oldest first.

    Args:
        blocks: Chunks that fit.
        policy: LRU or FIFO.
        mixed: Seed of the order in which the writing threads finish; ``None`` for the order of the chunks.
    """

    def __init__(self, blocks: int, policy: Policy, mixed: int | None = None) -> None:
        self._free = blocks
        self._residents = residents(policy)
        self._finish = None if mixed is None else random.Random(mixed)  # noqa: S311 - an order, not a secret
        self._refused: set[int] = set()

    def find(self, chunks: Sequence[int]) -> int:
        """How many of a document's chunks are found, and are then used: by the lookup and by the read."""
        found = _prefix(chunks, self._residents)
        for chunk in reversed(chunks[:found]):
            self._residents.hit(chunk)
        for chunk in chunks[:found]:
            self._residents.hit(chunk)
        return found

    def store(self, batch: Sequence[int]) -> None:
        """Take the chunks of one step."""
        pending: list[int] = []
        for chunk in batch:
            if chunk in self._refused:
                continue
            if not self._make_room():
                self._refused.add(chunk)
                continue
            self._free -= 1
            pending.append(chunk)
        for chunk in self._written(pending):
            if chunk in self._residents:
                self._residents.hit(chunk)
            else:
                self._residents.insert(chunk)

    def _make_room(self) -> bool:
        while self._free <= 0:
            if self._residents.evict() is None:
                return False
            self._free += 1
        return True

    def _written(self, pending: list[int]) -> Iterator[int]:
        if self._finish is None:
            yield from pending
            return
        while pending:
            yield pending.pop(self._finish.randrange(min(DISK_THREADS, len(pending))))


class DiskByFrequency:
    """The disk tier with LFU, which ranks a chunk from the moment at which its write is ordered.

    So the order of the writing threads does not matter, unless room is made at the cost of the very request
    that needs it: a chunk that is not written yet makes LMCache 0.5.4 fail with a ``KeyError``
    (``cache_policy/lfu.py``). A chunk that is stored again has two ranks there.

    Attributes:
        open: Whether one of these happened, so that nobody can tell what is found from then on.
    """

    def __init__(self, blocks: int) -> None:
        self.open = False
        self._free = blocks
        self._residents = residents(Policy.LFU)
        self._in_use: set[int] = set()

    def find(self, chunks: Sequence[int]) -> int:
        """How many of a document's chunks are found, and are then used: by the lookup and by the read."""
        found = _prefix(chunks, self._residents)
        for chunk in (*reversed(chunks[:found]), *chunks[:found]):
            self._residents.hit(chunk)
        self._in_use = set(chunks[:found])
        return found

    def store(self, batch: Sequence[int]) -> None:
        """Take the chunks of one step, as long as it is known what becomes of them."""
        for chunk in batch:
            self.open = self.open or chunk in self._residents
            while not self.open and self._free <= 0:
                given_up = self._residents.evict()
                self.open = given_up is None or given_up in self._in_use
                self._free += 1
            if self.open:
                return
            self._free -= 1
            self._residents.insert(chunk)
            self._in_use.add(chunk)


def _prefix(chunks: Sequence[int], there: Container[int]) -> int:
    found = 0
    for chunk in chunks:
        if chunk not in there:
            break
        found += 1
    return found


def _requests(scan: Scan) -> Iterator[tuple[int | None, int, Sequence[int]]]:
    """Pass, document and chunks of every request, the earlier ones without a pass."""
    shared, own = scan.shared_chunks, scan.chunks - scan.shared_chunks
    others = {name: place for place, name in enumerate(dict.fromkeys(scan.earlier))}
    for name in scan.earlier:
        first = scan.working_chunks + others[name] * scan.chunks
        yield None, 0, range(first, first + scan.chunks)
    for number in range(scan.passes):
        for document in pass_order(scan, number):
            first = shared + document * own
            chunks = range(first, first + own)
            yield number, document, (*range(shared), *chunks) if shared else chunks


def run(backend: _Backend, scan: Scan) -> Hits:
    """Send a scan's requests to a tier."""
    found = [[0] * scan.documents for _ in range(scan.passes)]
    for number, document, chunks in _requests(scan):
        hits = backend.find(chunks)
        if number is not None:
            found[number][document] = hits
        for batch in scan.batches(hits):
            backend.store(chunks[batch.start : batch.stop])
    return tuple(tuple(row) for row in found)


def whole(hits: Iterable[int], chunks: int) -> int:
    """How many documents were found whole."""
    return sum(found == chunks for found in hits) if chunks else 0
