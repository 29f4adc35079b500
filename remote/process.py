"""A detached process on a node: it outlives the link, and is found again by its directory."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from remote.link import Link

State = Literal["absent", "running", "ended", "lost"]
BLOCK_BYTES = 1 << 20
STOP_MARGIN_S = 45


@dataclass(frozen=True, slots=True)
class Started:
    """A process that runs.

    Attributes:
        already: It ran before it was asked for.
    """

    pid: int
    pgid: int
    started_wall_s: float
    already: bool


@dataclass(frozen=True, slots=True)
class Status:
    """How a process is.

    Attributes:
        state: ``lost`` has ended without a word: its keeper was killed, or the node booted anew.
        exit_code: Negative for a signal; None while it runs and when it is not known.
        reason: Why it ended: ``exited`` by itself, ``stopped`` when asked, ``lease`` when nobody renewed it.
        log_bytes: Size of its log.
        lease_left_s: Seconds until it is ended unless renewed; None when it does not run.
    """

    dir: str
    state: State
    pid: int | None
    pgid: int | None
    exit_code: int | None
    reason: str | None
    log_bytes: int
    started_wall_s: float | None
    ended_wall_s: float | None
    lease_left_s: float | None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a file.

    Attributes:
        next_offset: Where to read on.
        size_bytes: The file's size when it was read.
    """

    data: bytes
    next_offset: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment variables that were asked for, of one process; None for one that is not set."""

    pid: int
    comm: str
    values: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Process:
    """A detached process, known by its directory on the node.

    Attributes:
        dir: Absolute, or relative to the node's home directory; holds the log and the record.
    """

    link: Link
    dir: str

    async def start(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        marker: str,
        lease_s: float,
        cwd: str | None = None,
        again: bool = False,
    ) -> Started:
        """Start it, or find it running.

        Args:
            argv: The command line.
            env: Added to the node's environment.
            marker: The run that it belongs to, of ``a-z0-9-``.
            lease_s: It is ended when not renewed for so long.
            cwd: Working directory; the home directory when not given.
            again: Start anew where it has ended already.

        Raises:
            AgentError: ``spawn-failed``, or ``ended`` when it has ended and ``again`` is not set.
        """
        answer = await self.link.agent(
            "spawn",
            dir=self.dir,
            argv=list(argv),
            env=dict(env),
            marker=marker,
            lease_s=lease_s,
            cwd=cwd,
            again=again,
        )
        return Started(answer["pid"], answer["pgid"], answer["started_wall_s"], answer["already"])

    async def status(self) -> Status:
        """How it is."""
        return (await statuses(self.link, [self.dir]))[0]

    async def renew(self) -> None:
        """Start its lease anew."""
        await self.link.agent("renew", dirs=[self.dir])

    async def stop(self, grace_s: float = 10) -> bool:
        """End it with all its children, and prove it; True when it had to be killed.

        Raises:
            AgentError: ``survivors``, with their ``pids``.
        """
        answer = await self.link.agent(
            "stop", dir=self.dir, grace_s=grace_s, timeout_s=grace_s + STOP_MARGIN_S
        )
        return bool(answer["killed"])

    async def environ(self, names: Sequence[str]) -> tuple[Environment, ...]:
        """Variables as its processes have them, from ``/proc/PID/environ``."""
        answer = await self.link.agent("environ", dir=self.dir, names=list(names))
        return tuple(Environment(p["pid"], p["comm"], p["values"]) for p in answer["processes"])

    async def tail(self, offset: int, max_bytes: int = BLOCK_BYTES) -> Chunk:
        """Its log from a byte offset on."""
        return await tail(self.link, f"{self.dir}/log", offset, max_bytes)


async def statuses(link: Link, dirs: Sequence[str]) -> tuple[Status, ...]:
    """How several processes of a node are, in one question."""
    answer = await link.agent("status", dirs=list(dirs))
    return tuple(Status(**process) for process in answer["processes"])


async def stop_run(link: Link, marker: str, grace_s: float = 10) -> int:
    """End everything of a run that was started from the node's home; how many processes there were.

    Raises:
        AgentError: ``survivors``, with their ``pids``.
    """
    answer: dict[str, Any] = await link.agent(
        "stop-marker", marker=marker, grace_s=grace_s, timeout_s=grace_s + STOP_MARGIN_S
    )
    return int(answer["count"])


async def tail(link: Link, path: str, offset: int, max_bytes: int = BLOCK_BYTES) -> Chunk:
    """A part of a file on the node; a file that is not there yet is empty."""
    answer = await link.agent("tail", path=path, offset=offset, max_bytes=max_bytes)
    return Chunk(base64.b64decode(answer["data_b64"]), answer["next"], answer["size"])


async def read_on(link: Link, path: str, offset: int) -> AsyncIterator[tuple[int, bytes]]:
    """What a file on a node holds from a byte on, in pieces, with the offset of each.

    Raises:
        RemoteError: The node cannot be asked.
    """
    while (chunk := await tail(link, path, offset)).data:
        yield offset, chunk.data
        offset = chunk.next_offset
