"""Files of one chunk each that have no name: however their process ends, they are gone with it."""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import resource
import tempfile
from typing import Iterator, List, Optional

from . import places
from .cold import resident_pages
from .failure import Failure

PREFIX = "kvtui-ceiling-"
SPARE_DESCRIPTORS = 64
MOST_FILES = 2000
# Of what is free, so that a measurement never fills a disk that others write to.
MOST_OF_FREE = 0.5
BLOCK = 4096


class ChunkFiles:
    """The open files, and a buffer for each thread.

    ``direct`` is None where the file system refuses direct I/O, or a chunk is no whole number of blocks.
    """

    def __init__(self, chunk: int, buffered: List[int], direct: Optional[List[int]]) -> None:
        self.chunk = chunk
        self.buffered = buffered
        self.direct = direct

    def buffer(self, content: bytes = b"") -> mmap.mmap:
        """Memory of one chunk, at the start of a page as direct I/O wants it."""
        memory = mmap.mmap(-1, self.chunk)
        memory[: len(content)] = content
        return memory

    def forget(self) -> int:
        """Write the files out and drop them from memory; how many of their pages are there all the same."""
        left = 0
        for descriptor in self.buffered:
            os.fdatasync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            left += resident_pages(descriptor, os.fstat(descriptor).st_size)
        return left


@contextlib.contextmanager
def chunk_files(directory: str, chunk: int, limit_bytes: int) -> Iterator[ChunkFiles]:
    """Open files of a chunk below a directory, or below what there is of its path.

    Raises:
        Failure: ``cannot-write``, or ``no-space`` for not even one chunk.
    """
    parent = places.absolute(directory)
    while not os.path.isdir(parent) and parent != "/":
        parent = os.path.dirname(parent)
    count = _count(parent, chunk, limit_bytes)
    opened: List[int] = []
    try:
        yield _open(parent, chunk, count, opened)
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _count(parent: str, chunk: int, limit_bytes: int) -> int:
    usage = os.statvfs(parent)
    room = min(limit_bytes, int(usage.f_bavail * usage.f_frsize * MOST_OF_FREE))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
    descriptors = MOST_FILES if soft == resource.RLIM_INFINITY else (soft - SPARE_DESCRIPTORS) // 2
    count = min(room // chunk, descriptors, MOST_FILES)
    if count < 1:
        raise Failure("no-space", "%s has no room for a chunk of %d bytes to measure with." % (parent, chunk))
    return count


def _open(parent: str, chunk: int, count: int, opened: List[int]) -> ChunkFiles:
    try:
        folder = tempfile.mkdtemp(prefix=PREFIX, dir=parent)
    except OSError as error:
        raise Failure(
            "cannot-write", "Nothing can be written to %s: %s." % (parent, error.strerror)
        ) from None
    buffered: List[int] = []
    direct: Optional[List[int]] = [] if chunk % BLOCK == 0 else None
    path = os.path.join(folder, "chunk")
    flags = os.O_RDWR | os.O_CLOEXEC
    try:
        for _ in range(count):
            buffered.append(os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600))
            opened.append(buffered[-1])
            if direct is not None:
                try:
                    direct.append(os.open(path, flags | os.O_DIRECT))
                    opened.append(direct[-1])
                except OSError as error:
                    if error.errno != errno.EINVAL:
                        raise
                    direct = None
            os.unlink(path)
    finally:
        places.remove_file(path)
        os.rmdir(folder)
    return ChunkFiles(chunk, buffered, direct)
