"""LMCache's DRAM and disk tiers, chunk by chunk, for one request at a time.

Read from LMCache 0.5.4: ``v1/cache_engine.py`` (lookup, store), ``v1/storage_backend/local_cpu_backend.py``
and ``local_disk_backend.py``. Both find the chunks of a prompt up to the first that is missing, and touch
those alone, the last one first.
"""

from __future__ import annotations

import random
from collections.abc import Container, Iterable, Iterator
from enum import StrEnum
from typing import Protocol

from kvtui.fit.policies import EngineBreaks, Policy, residents
from kvtui.fit.scan import Scan, pass_order

# LMCache's ``disk_io_threads``.
DISK_THREADS = 4

Hits = tuple[tuple[int, ...], ...]
"""Chunks found of each document, by document, in every pass."""


class _Backend(Protocol):
    def find(self, chunks: range) -> int:
        """How many of a document's chunks are found, and are then used."""

    def store(self, batch: range) -> None:
        """Take the chunks of one step."""


class Dram:
    """The DRAM tier: blocks are allocated for a whole step, then its chunks become reusable."""

    def __init__(self, blocks: int, policy: Policy) -> None:
        self._free = blocks
        self._residents = residents(policy)

    def find(self, chunks: range) -> int:
        """How many of a document's chunks are found, and are then used."""
        found = _prefix(chunks, self._residents)
        for chunk in reversed(chunks[:found]):
            self._residents.hit(chunk)
        return found

    def store(self, batch: range) -> None:
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
                self._residents.announce(chunk)


class Writes(StrEnum):
    """In which order the files of a step are written; the truth lies between."""

    AT_ONCE = "each before the next chunk comes"
    IN_ORDER = "all after the last chunk came"
    MIXED = "all after the last chunk came, four at a time, any of the four first"


class Disk:
    """The disk tier: room is made chunk by chunk, and a chunk is there once its file is written.

    A chunk that is there and is stored again counts twice and is given back once, so capacity leaks; a chunk
    for which there was no room is never taken again.
    """

    def __init__(self, blocks: int, policy: Policy, writes: Writes, seed: int = 0) -> None:
        self._free = blocks
        self._residents = residents(policy)
        self._writes = writes
        self._order = random.Random(seed)  # noqa: S311 - an order, not a secret
        self._refused: set[int] = set()

    def find(self, chunks: range) -> int:
        """How many of a document's chunks are found, and are then used: by the lookup and by the read."""
        found = _prefix(chunks, self._residents)
        for chunk in reversed(chunks[:found]):
            self._residents.hit(chunk)
        for chunk in chunks[:found]:
            self._residents.hit(chunk)
        return found

    def store(self, batch: range) -> None:
        """Take the chunks of one step.

        Raises:
            EngineBreaks: LMCache's policy fails, or it removes a file that is being written anew, and later
                looks for it in vain.
        """
        pending: dict[int, None] = {}
        for chunk in batch:
            if chunk in self._refused:
                continue
            if not self._make_room(pending):
                self._refused.add(chunk)
                continue
            self._free -= 1
            self._residents.announce(chunk)
            if self._writes is Writes.AT_ONCE:
                self._write(chunk)
            else:
                pending[chunk] = None
        for chunk in self._mixed(list(pending)) if self._writes is Writes.MIXED else pending:
            self._write(chunk)

    def _make_room(self, pending: Container[int]) -> bool:
        while self._free <= 0:
            victim = self._residents.evict()
            if victim is None:
                return False
            if victim in pending:
                raise EngineBreaks
            self._free += 1
        return True

    def _mixed(self, pending: list[int]) -> Iterator[int]:
        while pending:
            yield pending.pop(self._order.randrange(min(DISK_THREADS, len(pending))))

    def _write(self, chunk: int) -> None:
        if chunk in self._residents:
            self._residents.hit(chunk)
        else:
            self._residents.insert(chunk)


def _prefix(chunks: range, there: Container[int]) -> int:
    found = 0
    for chunk in chunks:
        if chunk not in there:
            break
        found += 1
    return found


def _requests(scan: Scan) -> Iterator[tuple[int | None, int, int]]:
    """Pass, document and first chunk of every request, the earlier ones without a pass."""
    others = {name: scan.documents + place for place, name in enumerate(dict.fromkeys(scan.earlier))}
    for name in scan.earlier:
        yield None, 0, others[name] * scan.chunks
    for number in range(scan.passes):
        for document in pass_order(scan, number):
            yield number, document, document * scan.chunks


def run(backend: _Backend, scan: Scan) -> Hits:
    """Send a scan's requests to a tier.

    An engine that fails finds nothing from then on.
    """
    found = [[0] * scan.documents for _ in range(scan.passes)]
    try:
        for number, document, first in _requests(scan):
            hits = backend.find(range(first, first + scan.chunks))
            if number is not None:
                found[number][document] = hits
            for batch in scan.batches(hits):
                backend.store(range(first + batch.start, first + batch.stop))
    except EngineBreaks:
        pass
    return tuple(tuple(row) for row in found)


def whole(hits: Iterable[int], chunks: int) -> int:
    """How many documents were found whole."""
    return sum(found == chunks for found in hits) if chunks else 0
