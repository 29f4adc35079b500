"""What is added to a file on a node, as it is added, through one process there that lasts."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

import asyncssh

from remote.errors import NodeUnreachable
from remote.link import Link, program_argv
from remote.process import read_on

# What the node's program says before the file's first byte; a login shell may greet before that.
_MARK = b"kvtui:follow\n"
_LONGEST_GREETING_BYTES = 1 << 16
_BLOCK_BYTES = 1 << 16
_ASK_S = 2.0


@asynccontextmanager
async def followed(link: Link, path: str, offset: int) -> AsyncIterator[AsyncIterator[tuple[int, bytes]]]:
    """The pieces of a file from a byte on, with the offset of each; a file that is not there is waited for.

    Raises:
        RemoteError: The node cannot be asked, or the link was lost: ask again from where the pieces ended.
    """
    if link.few_sessions:
        async with aclosing(_asked_for(link, path, offset)) as pieces:
            yield pieces
        return
    argv = await program_argv(link, "follow", path, str(offset))
    async with link.opened(shlex.join(argv)) as process, aclosing(_pieces(link, process, offset)) as pieces:
        yield pieces


async def _asked_for(link: Link, path: str, offset: int) -> AsyncGenerator[tuple[int, bytes]]:
    """The same by asking again and again: more work for the node, and no session of its own."""
    while True:
        async for at, data in read_on(link, path, offset):
            yield at, data
            offset = at + len(data)
        await asyncio.sleep(_ASK_S)


async def _pieces(
    link: Link, process: asyncssh.SSHClientProcess[bytes], offset: int
) -> AsyncGenerator[tuple[int, bytes]]:
    data = await _after_greeting(process)
    while data is not None:
        if data:
            yield offset, data
            offset += len(data)
        data = await process.stdout.read(_BLOCK_BYTES) or None
    raise NodeUnreachable(f"{link.name} does not send what is added to its files any more.")


async def _after_greeting(process: asyncssh.SSHClientProcess[bytes]) -> bytes | None:
    """What came behind the mark; ``None`` when none came."""
    seen = b""
    while len(seen) < _LONGEST_GREETING_BYTES:
        data = await process.stdout.read(_BLOCK_BYTES)
        if not data:
            return None
        seen += data
        _, mark, rest = seen.partition(_MARK)
        if mark:
            return rest
    return None
