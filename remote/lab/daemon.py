"""The lab's daemon: three SSH nodes, a Valkey server, and a guard, until it is told to end.

It belongs to no terminal and to no kvtui: only `down`, its guard's death, or a lease that ran out ends it.
Its own death, of any kind, makes the guard end everything else.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import asyncssh

from remote.errors import LabError
from remote.lab import guard, info, members, sshserver, valkey
from remote.lab.locks import FileLock
from remote.lab.paths import NODE_NAMES, LabPaths

LOCK_ATTEMPTS = 20

log = logging.getLogger("lab")


@dataclass(frozen=True, slots=True)
class Order:
    """What the daemon is asked to run."""

    paths: LabPaths
    lab_id: str
    parts: info.LabParts
    idle_lease_s: float | None


async def run(order: Order, ready: IO[str]) -> None:
    """Run a lab until it must end, and leave no process of it behind."""
    ending = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _end, ending, f"signal {number.name}")
    guard_process, peer = guard.start(order.lab_id, order.paths.info)
    loop.add_reader(peer, _guard_died, peer, ending)
    acceptors: list[asyncssh.SSHAcceptor] = []
    store: asyncio.subprocess.Process | None = None
    try:
        connections = sshserver.Connections()
        nodes, acceptors = await sshserver.start(order.paths, order.lab_id, NODE_NAMES, connections)
        order.paths.valkey_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        store, port = await valkey.start(
            order.parts.valkey_server, order.paths.valkey_dir, order.paths.valkey_log
        )
        lab = info.LabInfo(
            lab_id=order.lab_id,
            daemon_pid=os.getpid(),
            guard_pid=guard_process.pid,
            started_wall_s=time.time(),
            idle_lease_s=order.idle_lease_s,
            nodes=nodes,
            store=info.StoreAddress(valkey.HOST, port, valkey.MAXMEMORY_BYTES, store.pid),
            parts=order.parts,
        )
        info.write(lab, order.paths.info)
        _say(ready, {"ok": True})
        log.info("lab %s is up, Valkey on port %d", order.lab_id, port)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_watch_store(store))]
            if order.idle_lease_s is not None:
                mine = {os.getpid(), guard_process.pid, store.pid}
                tasks.append(group.create_task(_watch_idle(order, connections, mine, ending)))
            await ending.wait()
            for task in tasks:
                task.cancel()
    except LabError as error:
        _say(ready, {"ok": False, "message": error.message, "hint": error.hint})
    finally:
        for acceptor in acceptors:
            acceptor.close()
        order.paths.info.unlink(missing_ok=True)
        but = {os.getpid(), guard_process.pid}
        survivors = await asyncio.to_thread(members.end, order.lab_id, but)
        if store is not None:
            if store.returncode is None:
                store.kill()
            await store.wait()
        log.info("lab %s is down, left alive: %s", order.lab_id, survivors or "none")
        loop.remove_reader(peer)
        peer.close()


def _guard_died(peer: socket.socket, ending: asyncio.Event) -> None:
    asyncio.get_running_loop().remove_reader(peer)
    _end(ending, "the guard died")


def _end(ending: asyncio.Event, reason: str) -> None:
    if not ending.is_set():
        log.info("ending: %s", reason)
    ending.set()


async def _watch_store(store: asyncio.subprocess.Process) -> None:
    status = await store.wait()
    log.error("Valkey ended by itself, exit status %d", status)


async def _watch_idle(
    order: Order, connections: sshserver.Connections, mine: set[int], ending: asyncio.Event
) -> None:
    """End the lab when no SSH connection and no process of a node has existed for the lease."""
    lease_s = order.idle_lease_s or 0.0
    busy_at = time.monotonic()
    while time.monotonic() - busy_at < lease_s:
        await asyncio.sleep(min(lease_s / 4, 10.0))
        if connections.open or await asyncio.to_thread(_node_processes, order.lab_id, mine):
            busy_at = time.monotonic()
    _end(ending, f"idle for {lease_s:g} s")


def _node_processes(lab_id: str, mine: set[int]) -> bool:
    return any(entry.pid not in mine for entry in members.find(lab_id))


def _say(ready: IO[str], answer: dict[str, object]) -> None:
    """Answer whoever started the daemon; they may have gone."""
    with contextlib.suppress(OSError):
        ready.write(json.dumps(answer) + "\n")
        ready.close()


def _take(lock: FileLock) -> bool:
    """Take the daemon's lock; whoever looks whether it is held holds it for a moment."""
    for _ in range(LOCK_ATTEMPTS):
        if lock.try_take():
            return True
        time.sleep(0.05)
    return False


def main() -> None:
    """Run as ``python -m remote.lab.daemon``; `remote.lab.control` does."""
    parser = argparse.ArgumentParser()
    parser.add_argument("order", help="the order, as JSON")
    parser.add_argument("--ready-fd", type=int, required=True)
    options = parser.parse_args()
    fields = json.loads(options.order)
    paths = LabPaths(Path(fields["root"]), Path(fields["engine_env"]))
    order = Order(paths, fields["lab_id"], info.LabParts(**fields["parts"]), fields["idle_lease_s"])
    if os.fork():
        os._exit(0)  # the caller's wait ends here, and the daemon is nobody's child
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    logging.getLogger("asyncssh").setLevel(logging.WARNING)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with open(options.ready_fd, "w", encoding="utf-8") as ready, FileLock(paths.daemon_lock) as lock:
        if not _take(lock):
            _say(ready, {"ok": False, "another_runs": True})
            return
        asyncio.run(run(order, ready))


if __name__ == "__main__":
    main()
