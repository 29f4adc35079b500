"""Waiting in a test, with a bound."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections.abc import Callable
from glob import glob
from pathlib import Path

LIMIT_S = 60.0


async def reached(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(LIMIT_S):
        while not condition():  # noqa: ASYNC110 - files and processes send no events
            await asyncio.sleep(0.01)


def is_held(lock: Path) -> bool:
    """Whether somebody holds the lock on a file."""
    if not lock.exists():
        return False
    with lock.open("r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def nameless_files(below: Path) -> list[str]:
    """The open files below a directory that have no name any more, whoever holds them."""
    found = []
    for descriptor in glob("/proc/[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            found.append(os.readlink(descriptor))
    return [path for path in found if path.startswith(f"{below}/") and path.endswith(" (deleted)")]
