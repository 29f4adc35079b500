"""The best that this machine's memory does when chunks are copied from one place to another."""

from __future__ import annotations

import ctypes
import itertools
import mmap
from typing import Any, Dict

from . import facts_memory
from .failure import Failure
from .parallel import timed
from .watch import measuring

# Copied with the processor's caches long overrun, and yet a small part of what is free.
WANTED_BYTES = 1 << 30
MOST_OF_FREE = 0.125


def measure(args: Dict[str, Any]) -> Dict[str, Any]:
    """Copy chunks in memory by one thread, and by more.

    ``chunk_bytes``, ``threads`` (several numbers), ``repeats``, ``slice_s`` for each, ``timeout_s`` for all.

    Raises:
        Failure: ``no-space``, ``busy``, ``timeout`` or ``cut-off``.
    """
    chunk, slice_s = int(args["chunk_bytes"]), float(args["slice_s"])
    free = facts_memory.memory().get("MemAvailable")
    room = WANTED_BYTES if free is None else min(WANTED_BYTES, int(free * MOST_OF_FREE))
    slots = room // (2 * chunk)
    if slots < 1:
        raise Failure("no-space", "There is no memory free for two chunks of %d bytes." % chunk)
    ways = []
    with measuring(args) as watch:
        source, target = _Region(slots * chunk), _Region(slots * chunk)

        def work(thread: int, number: int) -> None:
            start = number % slots * chunk
            # Unlike a slice's assignment, this lets other threads run.
            ctypes.memmove(target.address + start, source.address + start, chunk)

        for threads in (int(number) for number in args["threads"]):
            rates = []
            for _ in range(int(args["repeats"])):
                done, elapsed = timed(threads, itertools.count(), work, slice_s, watch)
                rates.append(done * chunk / elapsed)
            how = "copy, %d thread%s" % (threads, "" if threads == 1 else "s")
            ways.append({"what": "memory", "how": how, "threads": threads, "tool": "kvtui", "bytes_s": rates})
    return {"ways": ways, "skipped": []}


class _Region:
    """Memory that is there: every page has been written to."""

    def __init__(self, size: int) -> None:
        self._memory = mmap.mmap(-1, size)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        ctypes.memset(self.address, 1, size)
