"""Start, end and look at the lab, from any process."""

from __future__ import annotations

import asyncio
import contextlib
import math
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial

from remote.errors import LabError
from remote.lab import info, members, valkey
from remote.lab.info import LabInfo, LabParts
from remote.lab.launch import Answer, Launch
from remote.lab.locks import FileLock, is_held
from remote.lab.parts import find_parts
from remote.lab.paths import NODE_NAMES, LabPaths

START_LIMIT_S = 60.0
END_LIMIT_S = 30.0
POLL_S = 0.05

Say = Callable[[str], None]
"""Takes one line about what is being done."""


@dataclass(frozen=True, slots=True)
class LabStatus:
    """What is true of the lab now."""

    state: str
    """``up``, ``down``, or ``dead`` (its description is there, its daemon is not)."""
    info: LabInfo | None
    store_serving: bool
    nodes_serving: dict[str, bool]
    processes: tuple[tuple[int, str], ...]
    """Pid and name of what runs beside daemon, guard and Valkey: shells, keepers, engines, probes."""
    problems: tuple[str, ...]
    """One sentence for each thing that is not as it should be."""


async def up(
    paths: LabPaths,
    say: Say,
    parts: Callable[[], LabParts] | None = None,
    *,
    idle_lease_s: float | None = None,
) -> LabInfo:
    """Start the lab, or find the one that runs; two callers at once get the same one.

    Args:
        paths: Where the lab lives.
        say: Told about each step.
        parts: Finds or makes what the lab is made of, `find_parts` by default; called in a thread, and only
            when a lab must be started.
        idle_lease_s: End the lab after this long without a connection and without a process on a node.

    Raises:
        LabError: It could not be started; the message says why.
    """
    _require_linux()
    paths.root.mkdir(parents=True, exist_ok=True, mode=0o700)
    async with _exclusive(paths, say):
        running = await _running(paths)
        if running is not None:
            return running
        stale = info.read(paths.info)
        if stale is not None:
            say("Cleaning up after a lab that died")
            await _sweep(stale.lab_id)
            paths.info.unlink(missing_ok=True)
        made = await asyncio.to_thread(parts or partial(find_parts, paths, say))
        for node in NODE_NAMES:
            # Nothing of an earlier lab lives, so nobody holds its nodes.
            (paths.home(node) / ".kvtui" / "lock.json").unlink(missing_ok=True)
        say("Starting three SSH nodes and a Valkey server")
        await _start_daemon(paths, made, idle_lease_s)
        started = await _running(paths)
        if started is None:
            raise LabError("The lab ended as soon as it was up.", f"Its log is {paths.daemon_log}.")
        return started


async def down(paths: LabPaths, say: Say) -> bool:
    """End the lab and everything in it, and prove that nothing is left.

    Returns:
        Whether there was a lab.

    Raises:
        LabError: A process or a listening port is left.
    """
    if not paths.root.is_dir():
        return False
    async with _exclusive(paths, say):
        lab = await _running(paths) or info.read(paths.info)
        if lab is None:
            return False
        say("Ending the lab")
        keepers = (lab.daemon_pid, lab.guard_pid)
        if members.carries_marker(lab.daemon_pid, lab.lab_id):
            members.send(lab.daemon_pid, signal.SIGTERM)
        # The daemon ends the rest, then the guard itself; where both have died, nobody does.
        await _until(lambda: not any(members.carries_marker(pid, lab.lab_id) for pid in keepers), END_LIMIT_S)
        await _sweep(lab.lab_id)
        paths.info.unlink(missing_ok=True)
        open_ports = [port for port in (*lab.ssh_ports.values(), lab.store.port) if _listens(port)]
        if open_ports:
            raise LabError(
                f"After the lab's end somebody still listens on port {open_ports[0]} of this machine.",
                "See who it is with: ss -ltnp",
            )
        return True


async def status(paths: LabPaths) -> LabStatus:
    """Look at the lab; never changes anything, never waits long."""
    lab = info.read(paths.info)
    if lab is None:
        return LabStatus("down", None, False, {}, (), ())
    alive = is_held(paths.daemon_lock)
    store_pid = await valkey.serving_pid(lab.store.port)
    nodes = {name: _listens(port) for name, port in lab.ssh_ports.items()}
    own = {lab.daemon_pid, lab.guard_pid, lab.store.pid}
    others = tuple((e.pid, e.command) for e in members.find(lab.lab_id) if e.pid not in own)
    problems = []
    if not alive:
        problems.append("The lab's daemon has died; `kvtui lab up` starts a new lab.")
    elif store_pid != lab.store.pid:
        problems.append(
            "The lab's Valkey server has ended; `kvtui lab down` and `kvtui lab up` start a new one."
        )
    if alive:
        problems += [
            f"Node {name} of the lab does not answer." for name, serves in nodes.items() if not serves
        ]
    return LabStatus(
        state="up" if alive else "dead",
        info=lab,
        store_serving=store_pid == lab.store.pid,
        nodes_serving=nodes,
        processes=others,
        problems=tuple(problems),
    )


def _require_linux() -> None:
    if not sys.platform.startswith("linux"):
        raise LabError("The lab needs Linux.", "Run kvtui on a Linux machine, or against nodes of your own.")


@contextlib.asynccontextmanager
async def _exclusive(paths: LabPaths, say: Say) -> AsyncIterator[None]:
    """Hold the lock of whoever starts or ends the lab."""
    with FileLock(paths.up_lock) as lock:
        if not lock.try_take():
            say("Waiting for another kvtui that starts or ends the lab")
            await _until(lock.try_take, math.inf)
        yield


async def _running(paths: LabPaths) -> LabInfo | None:
    """Find the living lab; one that is just starting or ending is waited for."""
    await _until(lambda: paths.info.exists() or not is_held(paths.daemon_lock), START_LIMIT_S)
    return info.read(paths.info) if is_held(paths.daemon_lock) else None


async def _start_daemon(paths: LabPaths, parts: LabParts, idle_lease_s: float | None) -> None:
    with await asyncio.to_thread(Launch, paths, parts, idle_lease_s) as launch:
        if await _until(launch.has_answered, START_LIMIT_S):
            answer = launch.answer()
        else:
            answer = Answer(ok=False, message=f"The lab did not start in {START_LIMIT_S:g} s.")
    if answer.ok or answer.another_runs:
        return
    await _sweep(launch.lab_id)
    raise LabError(answer.message, answer.hint or f"Its log is {paths.daemon_log}.")


async def _sweep(lab_id: str) -> None:
    survivors = await asyncio.to_thread(members.end, lab_id)
    if survivors:
        pids = " ".join(str(pid) for pid in survivors)
        raise LabError(f"Processes of the lab could not be ended: {pids}.", f"End them with: kill -9 {pids}")


async def _until(condition: Callable[[], bool], limit_s: float) -> bool:
    """Wait for a condition; tell whether it came true in time."""
    deadline = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() >= deadline:
            return False
        await asyncio.sleep(POLL_S)
    return True


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(2.0)
        return probe.connect_ex((valkey.HOST, port)) == 0
