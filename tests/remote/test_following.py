"""A file on a node, sent as it grows: whole, through greetings and lost links, and nothing stays behind."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from remote.errors import NodeUnreachable, RemoteError
from remote.following import followed
from remote.link import Link
from remote.tail import FileCopy
from tests.remote.ssh_server import InProcess
from tests.remote.waiting import reached


def followers(home: Path) -> list[str]:
    """Processes that follow files below a home."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().decode()
        except OSError:
            continue
        if "\0follow\0" in command and str(home) in command:
            found.append(command)
    return found


async def take(link: Link, path: str, offset: int, count: int) -> bytes:
    """The first bytes that come."""
    got = b""
    async with followed(link, path, offset) as pieces:
        async for at, data in pieces:
            assert at == offset + len(got)
            got += data
            if len(got) >= count:
                return got
    return got


async def test_a_file_comes_from_an_offset_on_and_as_it_grows(link: Link, node_home: Path) -> None:
    file = node_home / "log"
    copy = node_home / "copy"
    task = asyncio.create_task(FileCopy(link, str(file), copy).follow())
    await reached(lambda: bool(followers(node_home)))
    file.write_bytes(b"one\n")
    await reached(lambda: copy.exists() and copy.read_bytes() == b"one\n")
    with file.open("ab") as more:
        more.write(b"two\n" * 100_000)
    await reached(lambda: copy.read_bytes() == file.read_bytes())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await take(link, str(file), 4, 4) >= b"two\n"
    await reached(lambda: not followers(node_home))


async def test_a_mark_within_the_file_is_content(link: Link, node_home: Path) -> None:
    (node_home / "log").write_bytes(b"kvtui:follow\nline\n")
    assert await take(link, "log", 0, 18) == b"kvtui:follow\nline\n"


async def test_a_lost_link_is_an_error_and_the_next_one_goes_on(server: InProcess, node_home: Path) -> None:
    link = Link(server.spec)
    file, copy = node_home / "log", FileCopy(link, "log", node_home / "copy")
    file.write_bytes(b"one\n")
    task = asyncio.create_task(copy.follow())
    await reached(lambda: copy.read(0) == b"one\n")
    await server.stop()
    with pytest.raises(RemoteError):
        await task
    with file.open("ab") as more:
        more.write(b"two\n")
    await server.start()
    task = asyncio.create_task(copy.follow())
    await reached(lambda: copy.read(0) == b"one\ntwo\n")
    await link.close()
    with pytest.raises(NodeUnreachable):
        await task
    await reached(lambda: not followers(node_home))


async def test_a_node_with_one_session_at_a_time_is_asked_instead(server: InProcess, node_home: Path) -> None:
    link = Link(server.spec)
    file, copy = node_home / "log", FileCopy(link, "log", node_home / "copy")
    file.write_bytes(b"one\n")
    await link.facts()
    server.sessions_allowed = 1
    task = asyncio.create_task(copy.follow())
    await reached(lambda: copy.read(0) == b"one\n")
    assert (await link.run("echo also")).stdout == b"also\n"
    assert link.few_sessions
    with pytest.raises(NodeUnreachable):
        await task
    task = asyncio.create_task(copy.follow())
    with file.open("ab") as more:
        more.write(b"two\n")
    await reached(lambda: copy.read(0) == b"one\ntwo\n")
    assert not followers(node_home)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await link.close()
