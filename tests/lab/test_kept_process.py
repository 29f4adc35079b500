"""A process that kvtui leaves on a node: it outlives the link, and ends with the lab."""

from __future__ import annotations

import os
import signal

from remote import lab
from remote.lab import members
from remote.lab.paths import LabPaths
from remote.link import Link
from remote.process import Process
from tests.lab import helpers


async def start_kept(described: lab.LabInfo, paths: LabPaths) -> int:
    """Start a process by the node's agent, and close the link."""
    link = Link(described.nodes["gpu-a"])
    directory = str(paths.home("gpu-a") / ".kvtui" / "runs" / "r1" / "engine")
    process = Process(link, directory)
    started = await process.start(["sleep", "300"], env={}, marker="r1", lease_s=300)
    await link.close()
    return started.pid


async def test_it_outlives_the_link(paths: LabPaths, parts: lab.LabParts, lab_ids: set[str]) -> None:
    described = await lab.up(paths, lambda line: None, lambda: parts)
    lab_ids.add(described.lab_id)
    pid = await start_kept(described, paths)
    # The daemon has seen the link's end by the time that another one is served.
    async with helpers.connect(described.nodes["gpu-b"]) as connection:
        await connection.run("true")
    assert helpers.lives(pid)
    assert pid in {found for found, _ in (await lab.status(paths)).processes}


async def test_it_and_its_keeper_end_with_a_killed_daemon(
    paths: LabPaths, parts: lab.LabParts, lab_ids: set[str]
) -> None:
    described = await lab.up(paths, lambda line: None, lambda: parts)
    lab_ids.add(described.lab_id)
    pid = await start_kept(described, paths)
    os.kill(described.daemon_pid, signal.SIGKILL)
    await helpers.eventually(lambda: not members.find(described.lab_id), "the guard has ended the lab")
    assert not helpers.lives(pid)
