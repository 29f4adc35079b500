"""Waiting in a test, with a bound."""

from __future__ import annotations

import asyncio
import fcntl
from collections.abc import Callable
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
