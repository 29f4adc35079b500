"""The best that a file system does for files of one chunk, in several ways."""

from __future__ import annotations

import os
from typing import Any, Dict, List

from . import fio
from .chunk_files import ChunkFiles, chunk_files
from .failure import Failure
from .parallel import timed
from .watch import Watch, measuring

TOOL = "kvtui"


def measure(args: Dict[str, Any]) -> Dict[str, Any]:
    """Write and read chunks below ``dir``: direct, and buffered with nothing left in memory.

    ``chunk_bytes``, ``threads`` (several numbers; writing takes the first), ``repeats``, ``limit_bytes``,
    ``slice_s`` for each repeat, ``timeout_s`` for all.

    Returns:
        ``ways``, each with its bytes a second of every repeat, and ``skipped`` with the reasons.

    Raises:
        Failure: ``cannot-write``, ``no-space``, ``short-io``, ``busy``, ``timeout`` or ``cut-off``.
    """
    chunk = int(args["chunk_bytes"])
    with measuring(args) as watch, chunk_files(args["dir"], chunk, int(args["limit_bytes"])) as files:
        run = _Run(files, watch, int(args["repeats"]), float(args["slice_s"]))
        threads = [int(number) for number in args["threads"]]
        if files.direct is None:
            run.skip("direct", "The file system or the chunk's size does not allow direct I/O.")
        else:
            run.write("direct", files.direct, threads[0])
            run.read_direct(files.direct, threads)
        run.write("buffered and synced", files.buffered, threads[0])
        run.read_buffered(threads)
    return {"ways": run.ways, "skipped": run.skipped, "files": len(files.buffered)}


class _Run:
    def __init__(self, files: ChunkFiles, watch: Watch, repeats: int, slice_s: float) -> None:
        self._files = files
        self._watch = watch
        self._repeats = repeats
        self._slice_s = slice_s
        # Random, so that nothing below compresses it.
        self._content = os.urandom(files.chunk)
        self._written = 0
        self.ways: List[Dict[str, Any]] = []
        self.skipped: List[Dict[str, str]] = []

    def skip(self, how: str, why: str) -> None:
        self.skipped.append({"what": "disk", "how": how, "why": why})

    def write(self, how: str, descriptors: List[int], threads: int) -> None:
        buffers = [self._files.buffer(self._content) for _ in range(threads)]
        synced = descriptors is self._files.buffered

        def work(thread: int, number: int) -> None:
            # No two files are the same, or a file system might keep one for both.
            buffers[thread][:8] = number.to_bytes(8, "little")
            _whole(os.pwritev(descriptors[number], [buffers[thread]], 0), self._files.chunk)
            if synced:
                os.fdatasync(descriptors[number])

        most = 0
        rates = []
        for _ in range(self._repeats):
            done, elapsed = timed(threads, range(len(descriptors)), work, self._slice_s, self._watch)
            rates.append(done * self._files.chunk / elapsed)
            most = max(most, done)
        self._written = max(self._written, most)
        self._add("disk-write", "%s, %d threads" % (how, threads), threads, rates)

    def read_direct(self, descriptors: List[int], threads: List[int]) -> None:
        program = fio.find()
        for number in threads:
            if program is not None:
                try:
                    rates, tool = fio.read_rates(
                        program,
                        descriptors[: self._written],
                        self._files.chunk,
                        number,
                        self._repeats,
                        self._slice_s,
                        self._watch,
                    )
                except fio.FioFailed as error:
                    self.skip("direct, %d threads, by fio" % number, str(error))
                else:
                    self._add("disk-read", "direct, %d threads" % number, number, rates, tool)
                    continue
            rates = [self._read(descriptors, number) for _ in range(self._repeats)]
            self._add("disk-read", "direct, %d threads" % number, number, rates)

    def read_buffered(self, threads: List[int]) -> None:
        for number in threads:
            how = "buffered and cold, %d threads" % number
            rates = []
            for _ in range(self._repeats):
                self._watch.check()
                left = self._files.forget()
                if left:
                    self.skip(
                        how, "%d pages stay in memory, so it would not be the disk that is read." % left
                    )
                    break
                rates.append(self._read(self._files.buffered, number))
            else:
                self._add("disk-read", how, number, rates)

    def _read(self, descriptors: List[int], threads: int) -> float:
        buffers = [self._files.buffer() for _ in range(threads)]

        def work(thread: int, number: int) -> None:
            _whole(os.preadv(descriptors[number], [buffers[thread]], 0), self._files.chunk)

        done, elapsed = timed(threads, range(self._written), work, self._slice_s, self._watch)
        return done * self._files.chunk / elapsed

    def _add(self, what: str, how: str, threads: int, rates: List[float], tool: str = TOOL) -> None:
        self.ways.append({"what": what, "how": how, "threads": threads, "tool": tool, "bytes_s": rates})


def _whole(count: int, chunk: int) -> None:
    if count != chunk:
        raise Failure("short-io", "Only %d of a chunk's %d bytes could be moved at once." % (count, chunk))
