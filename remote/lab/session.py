"""One SSH session of a lab node: a command in a session of its own, its streams, its end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import asyncssh

if TYPE_CHECKING:
    from collections.abc import Mapping

CHUNK_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Node:
    """What a node is to a session: a home and an environment."""

    name: str
    home: Path
    environment: Mapping[str, str]


async def serve(process: asyncssh.SSHServerProcess[bytes], node: Node) -> None:
    """Run what the client asked for, and end it with its channel.

    As with OpenSSH's sshd, the channel ends once the shell has ended and its output is closed. What still
    runs in the command's session is then killed; what has made a session of its own lives on.
    """
    if process.subsystem is not None:
        process.stderr.write(f"node {node.name} of the lab has no subsystem {process.subsystem}\n".encode())
        process.exit(1)
        return
    arguments = ["/bin/sh"] if process.command is None else ["/bin/sh", "-c", process.command]
    child = await asyncio.create_subprocess_exec(
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=node.home,
        env=dict(node.environment),
        start_new_session=True,
    )
    feed = asyncio.create_task(_feed(process, child))
    run = asyncio.create_task(_run(process, child))
    closed = asyncio.create_task(process.channel.wait_closed())
    try:
        await asyncio.wait({run, closed}, return_when=asyncio.FIRST_COMPLETED)
        if run.done() and not run.cancelled() and run.exception() is None:
            _report(process, run.result())
    finally:
        end_session(child.pid)
        for task in (feed, run, closed):
            task.cancel()
        await asyncio.gather(feed, run, closed, return_exceptions=True)
        await child.wait()
        _let_go(child)


def end_session(leader: int) -> None:
    """Kill every process of a session, whatever its process group.

    The leader may have ended: its number is not given out again while its session has members.
    """
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with contextlib.suppress(OSError):
                if os.getsid(int(name)) == leader:
                    os.kill(int(name), signal.SIGKILL)


async def _run(process: asyncssh.SSHServerProcess[bytes], child: asyncio.subprocess.Process) -> int:
    assert child.stdout is not None  # noqa: S101
    assert child.stderr is not None  # noqa: S101
    await asyncio.gather(_pump(child.stdout, process.stdout), _pump(child.stderr, process.stderr))
    return await child.wait()


async def _pump(source: asyncio.StreamReader, sink: asyncssh.SSHWriter[bytes]) -> None:
    """Copy output; a slow client holds up this command alone, as a full pipe would."""
    while data := await source.read(CHUNK_BYTES):
        sink.write(data)
        await sink.drain()


async def _feed(process: asyncssh.SSHServerProcess[bytes], child: asyncio.subprocess.Process) -> None:
    """Copy input and signals to the command."""
    assert child.stdin is not None  # noqa: S101
    with contextlib.suppress(OSError, asyncssh.Error):
        while True:
            try:
                data = await process.stdin.read(CHUNK_BYTES)
            except asyncssh.SignalReceived as received:
                _signal_group(child.pid, received.signal)
                continue
            except (asyncssh.BreakReceived, asyncssh.TerminalSizeChanged):
                continue
            if not data:
                break
            child.stdin.write(data)
            await child.stdin.drain()
    child.stdin.close()


def _signal_group(pgid: int, name: str) -> None:
    number = getattr(signal, f"SIG{name}", None)
    if number is not None:
        with contextlib.suppress(OSError):
            os.killpg(pgid, number)


def _report(process: asyncssh.SSHServerProcess[bytes], status: int) -> None:
    """Tell the client how the command ended."""
    with contextlib.suppress(OSError, asyncssh.Error):
        if status < 0:
            process.exit_with_signal(signal.Signals(-status).name.removeprefix("SIG"))
        else:
            process.exit(status)


def _let_go(child: asyncio.subprocess.Process) -> None:
    """Close the pipes' ends here: a process that lives on may still hold the others."""
    transport = getattr(child, "_transport", None)
    if transport is not None:
        transport.close()
