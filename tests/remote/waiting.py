"""Waiting in a test, with a bound."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

LIMIT_S = 60.0


async def reached(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(LIMIT_S):
        while not condition():  # noqa: ASYNC110 - files and processes send no events
            await asyncio.sleep(0.01)
