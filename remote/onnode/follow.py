"""Sends what a file holds from a byte on, then what is added to it, until standard input ends.

One process for as long as it is watched: starting one for each look costs a node more than the look.
"""

from __future__ import annotations

import os
import select
from typing import List, Optional

from . import places

# Before the first byte of the file: a login shell may greet first.
MARK = b"kvtui:follow\n"
BLOCK_BYTES = 1 << 16
PAUSE_S = 0.5
NICENESS = 19


def main(arguments: List[str]) -> int:
    """Follow the file PATH from byte OFFSET; one that is not there yet is waited for."""
    path, offset = places.absolute(arguments[0]), int(arguments[1])
    os.nice(NICENESS)
    try:
        _send(MARK)
        _follow(path, offset)
    except OSError:
        pass  # the reader is gone, or the file cannot be read: the other side asks anew
    return 0


def _follow(path: str, offset: int) -> None:
    descriptor: Optional[int] = None
    while True:
        if descriptor is None:
            descriptor = _open(path)
        data = os.pread(descriptor, BLOCK_BYTES, offset) if descriptor is not None else b""
        if data:
            _send(data)
            offset += len(data)
        elif select.select([0], [], [], PAUSE_S)[0] and not os.read(0, BLOCK_BYTES):
            return


def _open(path: str) -> Optional[int]:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None


def _send(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]
