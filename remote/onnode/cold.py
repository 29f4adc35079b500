"""Takes own files out of the page cache, and proves it; root is not needed."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Dict, Tuple

from .files import own_files

DROP_CACHES = "/proc/sys/vm/drop_caches"
PROT_READ, MAP_SHARED = 1, 1
MAP_FAILED = ctypes.c_void_p(-1).value
RESIDENT = 1
# mincore(2) uses one bit of each byte and reserves the others.
_ONLY_RESIDENT = bytes(value & RESIDENT for value in range(256))


def make_cold(args: Dict[str, Any]) -> Dict[str, Any]:
    """Write out and drop from memory the files of ``dir`` that have ``contains`` in their name.

    What stays in memory all the same, as pages that somebody else has mapped do, is dropped with the rest of
    the node's page cache where the user may do that.
    """
    files, before, after = _drop(args)
    dropped = after > 0 and _drop_everything()
    if dropped:
        _, _, after = _drop(args)
    return {
        "files": files,
        "resident_pages_before": before,
        "resident_pages_after": after,
        "dropped_caches": dropped,
    }


def _drop(args: Dict[str, Any]) -> Tuple[int, int, int]:
    """Drop the files one by one: how many, and their pages in memory before and after."""
    files = before = after = 0
    for path, size in own_files(args):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        try:
            before += resident_pages(descriptor, size)
            # Only clean pages can be dropped.
            os.fdatasync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            after += resident_pages(descriptor, size)
        finally:
            os.close(descriptor)
        files += 1
    return files, before, after


def _drop_everything() -> bool:
    """Drop the node's whole page cache, which only root may; whether it was done."""
    try:
        with open(DROP_CACHES, "w", encoding="ascii") as file:
            file.write("1\n")
    except OSError:
        return False
    return True


def resident_pages(descriptor: int, size: int) -> int:
    """How many pages of an open file are in memory, by mincore(2).

    Raises:
        OSError: The file cannot be mapped or asked about.
    """
    if size == 0:
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    address = libc.mmap(None, size, PROT_READ, MAP_SHARED, descriptor, 0)
    if address == MAP_FAILED:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        pages = (ctypes.c_ubyte * ((size + page - 1) // page))()
        if libc.mincore(address, size, pages) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return bytes(pages).translate(_ONLY_RESIDENT).count(RESIDENT)
    finally:
        libc.munmap(address, size)
