"""The bare way from an engine's node to the store's, measured by iperf3 where both have it."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from kvtui.ceiling_reading import ways_skipped
from remote.errors import RemoteError
from remote.link import Link
from remote.process import Process

TIMEOUT_S = 60.0
# Should kvtui be killed meanwhile, the server ends by itself.
LEASE_S = 90.0
DIRECTORY = ".kvtui/ceiling-line"


async def measure_line(
    link: Link, store: Link, address: str, *, streams: int, repeats: int, slice_s: float
) -> dict[str, Any]:
    """What the engine's node received from a server on the store's node; no ways where one lacks iperf3.

    Args:
        link: The link to the engine's node.
        store: The link to the store's node.
        address: The store's host as the engine's node resolves it.
        streams: How many at once.
        repeats: How often.
        slice_s: How long each time.

    Raises:
        RemoteError: A node cannot be asked.
    """
    program = await _iperf3(store)
    if program is None or await _iperf3(link) is None:
        return {}
    try:
        async with _server(store, program) as port:
            return await link.agent(
                "ceiling-line",
                timeout_s=TIMEOUT_S,
                host=address,
                port=port,
                streams=streams,
                repeats=repeats,
                slice_s=slice_s,
            )
    except RemoteError as error:
        return ways_skipped("line", "bare TCP", error.message)


async def _iperf3(link: Link) -> str | None:
    path = (await link.agent("iperf3"))["path"]
    return path if isinstance(path, str) else None


@asynccontextmanager
async def _server(link: Link, program: str) -> AsyncIterator[int]:
    """A server on a port of its own, ended and removed in the end."""
    [port] = (await link.agent("free-ports", runs=[1]))["bases"]
    name = secrets.token_hex(4)
    process = Process(link, f"{DIRECTORY}-{name}")
    try:
        await process.start(
            [program, "--server", "--port", str(port)], env={}, marker=f"ceiling-{name}", lease_s=LEASE_S
        )
        yield port
    finally:
        with suppress(RemoteError):
            await process.stop(grace_s=1)
            await link.agent("remove-tree", dir=process.dir)
