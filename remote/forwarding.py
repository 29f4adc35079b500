"""A local port that leads through a node, and that survives a lost connection."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol

import asyncssh

from remote.connection import CONNECTION_ERRORS
from remote.errors import RemoteError

BLOCK_BYTES = 65536
ACCEPTING_TURNS = 3
"""Turns of the event loop from a client to its callback (``asyncio/selector_events.py`` of Python 3.11)."""


class _Reader(Protocol):
    async def read(self, n: int = -1) -> bytes: ...


class _Writer(Protocol):
    def write(self, data: bytes) -> None: ...
    async def drain(self) -> None: ...
    def can_write_eof(self) -> bool: ...
    def write_eof(self) -> None: ...


@contextlib.asynccontextmanager
async def forwarded_port(
    connected: Callable[[], Awaitable[asyncssh.SSHClientConnection]], host: str, port: int
) -> AsyncIterator[int]:
    """Listen on a free loopback port; each client gets a channel on the connection that is open then.

    Args:
        connected: Gives the open SSH connection, made anew where it was lost.
        host: The far host, as the node sees it.
        port: The far port.
    """
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(_serve(connected, host, port, reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        # Not in the task, which may be cancelled before it begins.
        task.add_done_callback(lambda _: writer.close())

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        try:
            await _accept_no_more(server)
        finally:
            server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _accept_no_more(server: asyncio.Server) -> None:
    """Let half-accepted clients through, which a closing server would lose (CPython issue 109564)."""
    loop = asyncio.get_running_loop()
    for listener in server.sockets:
        loop.remove_reader(listener)
    for _ in range(ACCEPTING_TURNS):
        await asyncio.sleep(0)


async def _serve(
    connected: Callable[[], Awaitable[asyncssh.SSHClientConnection]],
    host: str,
    port: int,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    try:
        connection = await connected()
        far_reader, far_writer = await connection.open_connection(host, port, encoding=None)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(_pump(reader, far_writer))
                both.create_task(_pump(far_reader, writer))
        finally:
            far_writer.close()
    except (*CONNECTION_ERRORS, RemoteError, ExceptionGroup):
        # The client sees its connection end, as it would without the tunnel.
        pass


async def _pump(reader: _Reader, writer: _Writer) -> None:
    while data := await reader.read(BLOCK_BYTES):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
