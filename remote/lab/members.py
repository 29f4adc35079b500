"""The processes of a lab: how they are known, found and ended.

Every process that the lab starts inherits ``KVTUI_LAB=<lab id>``. A program that rewrites its title may
destroy what ``/proc/PID/environ`` shows, so a member's descendants and the sessions it leads belong too.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass

MARKER = "KVTUI_LAB"


@dataclass(frozen=True, slots=True)
class ProcessEntry:
    """One line of the process table."""

    pid: int
    parent_pid: int
    session: int
    start_ticks: int
    """Start after boot, in clock ticks: with the pid it names one process for ever."""
    marked: bool
    """Whether its environment carries the marker."""
    command: str


def belonging(table: Iterable[ProcessEntry]) -> set[int]:
    """Choose the pids that are marked, descend from a member, or are in a session that a member leads."""
    entries = list(table)
    members = {entry.pid for entry in entries if entry.marked}
    while True:
        more = {
            entry.pid
            for entry in entries
            if entry.pid not in members and (entry.parent_pid in members or entry.session in members)
        }
        if not more:
            return members
        members |= more


def process_table(lab_id: str) -> list[ProcessEntry]:
    """Read the process table as far as this user may."""
    marker = f"{MARKER}={lab_id}".encode()
    entries = (_read_entry(int(name), marker) for name in os.listdir("/proc") if name.isdecimal())
    return [entry for entry in entries if entry is not None]


def find(lab_id: str, but: Collection[int] = ()) -> list[ProcessEntry]:
    """Find a lab's living processes, except the pids in `but` (and what belongs only through them)."""
    table = [entry for entry in process_table(lab_id) if entry.pid not in but]
    pids = belonging(table)
    return [entry for entry in table if entry.pid in pids]


def end(lab_id: str, but: Collection[int] = (), grace_s: float = 3.0, limit_s: float = 15.0) -> list[int]:
    """End a lab's processes: TERM, then KILL after `grace_s`; look again until none is left.

    Returns:
        The pids that were still there after `limit_s`.
    """
    began = time.monotonic()
    known: dict[int, int] = {}
    while True:
        table = [entry for entry in process_table(lab_id) if entry.pid not in but]
        # One that lost its marked parent since the last look is still remembered by pid and start.
        pids = belonging(table) | {e.pid for e in table if known.get(e.pid) == e.start_ticks}
        alive = [entry for entry in table if entry.pid in pids]
        elapsed_s = time.monotonic() - began
        if not alive or elapsed_s > limit_s:
            return [entry.pid for entry in alive]
        for entry in alive:
            if elapsed_s >= grace_s:
                send(entry.pid, signal.SIGKILL)
            elif known.get(entry.pid) != entry.start_ticks:
                send(entry.pid, signal.SIGTERM)
            known[entry.pid] = entry.start_ticks
        time.sleep(0.05)


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal; a process that has gone is no error."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def carries_marker(pid: int, lab_id: str) -> bool:
    """Tell whether a living process carries a lab's marker."""
    entry = _read_entry(pid, f"{MARKER}={lab_id}".encode())
    return entry is not None and entry.marked


def _read_entry(pid: int, marker: bytes) -> ProcessEntry | None:
    """Read one process; None where it has gone, is a zombie, or belongs to somebody else."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            stat = file.read()
        with open(f"/proc/{pid}/environ", "rb") as file:
            environ = file.read()
    except OSError:
        return None
    # The command's name stands in parentheses and may hold anything, parentheses too (proc(5)).
    name, _, rest = stat.partition(b"(")[2].rpartition(b")")
    fields = rest.split()
    if fields[0] in (b"Z", b"X"):
        return None
    return ProcessEntry(
        pid=pid,
        parent_pid=int(fields[1]),
        session=int(fields[3]),
        start_ticks=int(fields[19]),
        marked=marker in environ.split(b"\0"),
        command=name.decode(errors="replace"),
    )
