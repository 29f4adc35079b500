"""What nodes are made of, read from all of them at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kvtui.node_reading import node_facts
from kvtui.nodefacts import NodeFacts
from remote.clock import ClockReading, read_clock
from remote.errors import CommandFailed, CommandTimeout, RemoteError
from remote.link import Link

FACTS_LIMIT_S = 60


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to look for on a node beside the machine itself.

    Attributes:
        engine_python: The interpreter of the engine's environment; ``None`` for a node without engine.
        model_roots: Folders to search for models, besides the hub's cache.
    """

    engine_python: str | None = None
    model_roots: tuple[str, ...] = ()


async def read_facts(
    link: Link, wanted: Wanted | None = None, clock: Callable[[], float] = time.time
) -> NodeFacts:
    """Read one node's facts, over one link.

    Args:
        link: The link to it.
        wanted: What to look for of the engine; ``None`` asks about the machine alone.
        clock: The time of this machine.

    Raises:
        RemoteError: The node cannot be reached or asked.
    """
    # First, so that the clock's short round trips do not wait behind the others.
    reading = await _clock(link, clock)
    machine, engine = await asyncio.gather(
        link.agent("facts", timeout_s=FACTS_LIMIT_S), _engine(link, wanted)
    )
    return node_facts(
        link.name,
        machine,
        engine,
        read_wall_s=clock(),
        clock_skew_s=reading.skew_s if reading else None,
        rtt_ms=reading.rtt_s * 1000 if reading else None,
    )


async def read_all(
    links: Mapping[str, Link],
    wanted: Mapping[str, Wanted] | None = None,
    told: Callable[[str, NodeFacts | RemoteError], None] = lambda name, found: None,
) -> dict[str, NodeFacts | RemoteError]:
    """Read every node at once; one that cannot be read hinders no other.

    Args:
        links: The links, by name.
        wanted: What to look for, by name.
        told: Called with each node's facts or failure as soon as they are there.
    """

    async def one(name: str) -> NodeFacts | RemoteError:
        found: NodeFacts | RemoteError
        try:
            found = await read_facts(links[name], (wanted or {}).get(name))
        except RemoteError as error:
            found = error
        told(name, found)
        return found

    async with asyncio.TaskGroup() as group:
        tasks = {name: group.create_task(one(name)) for name in links}
    return {name: task.result() for name, task in tasks.items()}


async def _clock(link: Link, clock: Callable[[], float]) -> ClockReading | None:
    """The node's clock; a node that cannot be reached is told of, one that does not tell is unknown."""
    try:
        return await read_clock(link, clock)
    except (CommandFailed, CommandTimeout):
        return None


async def _engine(link: Link, wanted: Wanted | None) -> dict[str, Any] | None:
    if wanted is None:
        return None
    return await link.agent(
        "engine-facts", timeout_s=FACTS_LIMIT_S, python=wanted.engine_python, model_roots=wanted.model_roots
    )
