"""How far a node's clock is from this machine's, and how long the way to it is."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass

import asyncssh

from remote import connection as ssh
from remote.errors import CommandFailed, CommandTimeout
from remote.link import Link, program_argv
from remote.ssh_errors import explain

QUESTIONS = 5
_LIMIT_S = 15.0
_MARK = "kvtui:"
_MOST_LINES = 100  # of a login shell's greeting


@dataclass(frozen=True, slots=True)
class ClockReading:
    """Of several questions the one with the shortest way, which leaves the least room for error.

    Attributes:
        skew_s: How far the node's clock is ahead, give or take half of ``rtt_s``.
        rtt_s: The round trip.
    """

    skew_s: float
    rtt_s: float


def reading(sent_wall_s: float, node_wall_s: float, rtt_s: float) -> ClockReading:
    """What one question tells: the node looked at its clock half-way, as far as anybody knows."""
    return ClockReading(node_wall_s - (sent_wall_s + rtt_s / 2), rtt_s)


async def read_clock(link: Link, wall: Callable[[], float] = time.time) -> ClockReading:
    """Ask a node for its time, several times over one channel.

    Raises:
        CommandFailed: The node did not tell the time.
        CommandTimeout: It did not in time.
        NodeUnreachable: No connection, or it was lost.
    """
    command = shlex.join(await program_argv(link, "clock"))
    try:
        async with asyncio.timeout(_LIMIT_S):
            connection = await link.connected()
            process = await connection.create_process(command, encoding="utf-8", errors="replace")
            try:
                readings = []
                for _ in range(QUESTIONS):
                    sent_wall_s, sent_s = wall(), time.perf_counter()
                    process.stdin.write("\n")
                    node_wall_s = await _told(process.stdout, link.name)
                    readings.append(reading(sent_wall_s, node_wall_s, time.perf_counter() - sent_s))
                process.stdin.write_eof()
            finally:
                process.close()
    except TimeoutError:
        raise CommandTimeout(f"{link.name} did not tell its time within {_LIMIT_S:g} s.") from None
    except ssh.CONNECTION_ERRORS as error:
        raise explain(error, link.host) from error
    return min(readings, key=lambda each: each.rtt_s)


async def _told(stdout: asyncssh.SSHReader[str], name: str) -> float:
    for _ in range(_MOST_LINES):
        line = await stdout.readline()
        _, marker, told = line.partition(_MARK)
        if marker:
            try:
                return float(told)
            except ValueError:
                break
        if not line:
            break
    raise CommandFailed(f"{name} did not tell its time.", "Does its login shell let commands through?")
