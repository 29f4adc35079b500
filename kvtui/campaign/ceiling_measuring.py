"""Ceilings measured on nodes, one kind after another."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from kvtui.campaign.layout import expand_home
from kvtui.campaign.line import measure_line
from kvtui.ceiling_reading import Skipped, ceilings_of, skipped_of
from kvtui.ceilings import Ceiling
from remote.errors import NodeUnreachable, RemoteError
from remote.link import Link, home

Kind = Literal["disk", "network", "memory"]
# LMCache's own number of disk threads, and the number from which more brought little more.
DISK_THREADS = (4, 16)
MEMORY_THREADS = (1, 4)
# Of each repeat: so the slowest disk of all ends a measurement after a minute and a half.
DISK_SLICE_S = 4.0
SHORT_SLICE_S = 1.0
LIMIT_S = {"disk": 180.0, "network": 120.0, "memory": 60.0}


@dataclass(frozen=True, slots=True)
class Measuring:
    """What to measure with.

    Attributes:
        chunk_bytes: Bytes of one chunk: of each file, value and copy.
        directory: Path of the disk tier on the node.
        store_address: The store's host as the node resolves it.
        store_port: Its port.
        store_password: Its password, or empty.
        workers: LMCache's connections to the store; twice as many are measured too.
        engine_python: The engine's interpreter, whose glide reads the store too; ``None`` for none.
        repeats: How often each way is measured.
        disk_limit_bytes: Most that is written to the disk at a time; never more than half of what is free.
        store_limit_bytes: Most that is put into the store; never more than half of what is free.
        disk_slice_s: The longest that one repeat of reading or writing the disk may take.
        slice_s: How long one repeat of the others takes.
    """

    chunk_bytes: int
    directory: str = ""
    store_address: str = ""
    store_port: int = 6379
    store_password: str = ""
    workers: int = 8
    engine_python: str | None = None
    repeats: int = 3
    disk_limit_bytes: int = 2 * 1024**3
    store_limit_bytes: int = 512 * 1024**2
    disk_slice_s: float = DISK_SLICE_S
    slice_s: float = SHORT_SLICE_S


async def measure_ceilings(
    link: Link,
    measuring: Measuring,
    kind: Kind,
    *,
    store: Link | None = None,
    skipped: Callable[[Skipped], None] = lambda way: None,
    clock: Callable[[], float] = time.time,
) -> tuple[Ceiling, ...]:
    """Measure one kind of ceiling on one node, in all its ways, after one another.

    Nodes that share a store or a disk must not be measured at once.

    Args:
        link: The link to the node.
        measuring: What to measure with.
        kind: ``disk`` for reading and writing, ``network`` for the way to the store, ``memory``.
        store: The link to the store's node, where kvtui has one: iperf3 measures the way without the store.
        skipped: Told of each way that could not be measured.
        clock: The time of this machine.

    Raises:
        AgentError: The directory cannot be written, the store does not answer or takes no such value
            (``bulk-limit``), there is no room (``no-space``), or time was over.
        RemoteError: The node cannot be asked.
    """
    target, args = _question(measuring, kind)
    answer = await link.agent(
        f"ceiling-{kind}",
        timeout_s=LIMIT_S[kind],
        chunk_bytes=measuring.chunk_bytes,
        repeats=measuring.repeats,
        **args,
    )
    answers = [answer]
    if kind == "network" and store is not None:
        answers.append(
            await measure_line(
                link,
                store,
                measuring.store_address,
                streams=measuring.workers,
                repeats=measuring.repeats,
                slice_s=measuring.slice_s,
            )
        )
    found: tuple[Ceiling, ...] = ()
    for one in answers:
        for way in skipped_of(link.name, one):
            skipped(way)
        found += ceilings_of(link.name, one, measuring.chunk_bytes, target, clock())
    return found


def _question(measuring: Measuring, kind: Kind) -> tuple[str, dict[str, Any]]:
    """What is measured, and how."""
    if kind == "disk":
        return measuring.directory, {
            "dir": measuring.directory,
            "threads": DISK_THREADS,
            "limit_bytes": measuring.disk_limit_bytes,
            "slice_s": measuring.disk_slice_s,
        }
    if kind == "network":
        return f"{measuring.store_address}:{measuring.store_port}", {
            "host": measuring.store_address,
            "port": measuring.store_port,
            "password": measuring.store_password,
            "workers": (measuring.workers, 2 * measuring.workers),
            "limit_bytes": measuring.store_limit_bytes,
            "slice_s": measuring.slice_s,
            "python": measuring.engine_python,
        }
    return "", {"threads": MEMORY_THREADS, "slice_s": measuring.slice_s}


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured on a node, and why some of it was not."""

    ceilings: tuple[Ceiling, ...]
    failures: tuple[RemoteError, ...] = ()


async def measure_node(
    link: Link,
    measuring: Measuring,
    kinds: Iterable[Kind],
    told: Callable[[str], None],
    store: Link | None = None,
) -> Measured:
    """Measure the kinds of ceiling; one that fails hinders no other, unless the node is gone.

    Args:
        link: The link to the node.
        measuring: What to measure with.
        kinds: The kinds.
        told: Told in words what is measured, and what could not be.
        store: The link to the store's node, where kvtui has one.
    """
    found: tuple[Ceiling, ...] = ()
    failures: list[RemoteError] = []

    def skipped(way: Skipped) -> None:
        told(f"{link.name}: {way.what}, {way.how} was not measured: {way.why}")

    for kind in kinds:
        told(f"{link.name}: measuring {kind}")
        try:
            # What was measured is compared with mounts later, by absolute paths.
            directory = expand_home(measuring.directory, await home(link))
            asked = replace(measuring, directory=directory)
            found += await measure_ceilings(link, asked, kind, store=store, skipped=skipped)
        except RemoteError as error:
            failures.append(error)
            if isinstance(error, NodeUnreachable):
                break
    return Measured(found, tuple(failures))
