"""What processes that are none of the run's use of this host: a run is not alone on most machines.

The run's own are those that it started here, in whatever node's home, what they started, kvtui itself, the
lab that it runs in, and what serves it: the store, SSH, the kernel. What is left is told with its name.
"""

from __future__ import annotations

import os
import time
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Set, Tuple

from . import counters
from .launcher import ROOT
from .record import KEEPS, MARKER

# Set by kvtui's lab on all that it starts; only in a lab has the watcher one itself.
LAB = "KVTUI_LAB"
SERVING = frozenset(["valkey-server", "redis-server", "sshd", "sshd-session", "sshd-auth"])
# A look reads one or two files of each process: it may take this share of a processor, at most once a second.
LOOK_SHARE = 0.004
SHORTEST_S = 1.0
_KTHREADD = 2


class Process(NamedTuple):
    """One process, from ``/proc/PID/stat`` (proc(5))."""

    comm: str
    parent: int
    session: int
    start_ticks: int
    cpu_s: float


class Used(NamedTuple):
    """What one process had used when it was looked at last; None where it may not be read."""

    cpu_s: float
    read_bytes: Optional[int]
    write_bytes: Optional[int]


class Others:
    """Adds up what other processes use, from the first look on."""

    def __init__(self, proc: str = "/proc", environ: Optional[Mapping[str, str]] = None) -> None:
        self._proc = proc
        own = os.environ if environ is None else environ
        names = [(MARKER, own.get(MARKER)), (KEEPS, own.get(MARKER)), (LAB, own.get(LAB))]
        self._marks = {("%s=%s" % (name, value)).encode() for name, value in names if value}
        self._ours: Dict[int, int] = {}
        self._passed: Dict[int, Tuple[int, str]] = {}
        self._used: Dict[Tuple[int, int], Used] = {}
        self._sessions: Set[int] = set()
        self._total = {"cpu_s": 0.0, "read_bytes": 0, "write_bytes": 0}
        self._top = {"cpu": "", "disk": ""}
        self._looked = False
        self._next_look = 0.0

    def sample(self) -> Optional[Dict[str, Any]]:
        """What they have used so far, and which of them most since the last look; None between two looks."""
        if time.monotonic() < self._next_look:
            return None
        began = time.thread_time()
        self._look()
        took = time.thread_time() - began
        self._next_look = time.monotonic() + max(SHORTEST_S, took / LOOK_SHARE)
        return {
            "cpu_s": round(self._total["cpu_s"], 2),
            "read_bytes": self._total["read_bytes"],
            "write_bytes": self._total["write_bytes"],
            "cpu_top": self._top["cpu"],
            "disk_top": self._top["disk"],
        }

    def _look(self) -> None:
        found = {pid: process for pid in _pids(self._proc) for process in [_read(self._proc, pid)] if process}
        self._ours = {pid: start for pid, start in self._ours.items() if _lives(found, pid, start)}
        self._passed = {p: seen for p, seen in self._passed.items() if _lives(found, p, seen[0])}
        used = {}
        most = {"cpu": 0.0, "disk": 0.0}
        self._top = {"cpu": "", "disk": ""}
        # A parent comes before its children, but for numbers that began anew: those are known by their mark.
        for pid, process in sorted(found.items()):
            if self._is_other(pid, process):
                before = self._used.get((pid, process.start_ticks))
                # Who moved anything has run for it.
                idle = before is not None and before.cpu_s == process.cpu_s
                now = before if before is not None and idle else _used(self._proc, pid, process)
                if before is None:
                    # What began after the first look has used all of it since.
                    before = Used(0.0, 0, 0) if self._looked else now
                used[pid, process.start_ticks] = now
                cpu_s = max(0.0, now.cpu_s - before.cpu_s)
                read, written = _grown(before, now, "read_bytes"), _grown(before, now, "write_bytes")
                for name, value in (("cpu_s", cpu_s), ("read_bytes", read), ("write_bytes", written)):
                    self._total[name] += value
                for what, value in (("cpu", cpu_s), ("disk", float(read + written))):
                    if value > most[what]:
                        most[what], self._top[what] = value, process.comm
        self._used, self._looked = used, True

    def _is_other(self, pid: int, process: Process) -> bool:
        if self._ours.get(pid) == process.start_ticks or self._passed.get(pid) == (
            process.start_ticks,
            process.comm,
        ):
            return False
        if pid == _KTHREADD or process.parent == _KTHREADD or process.comm in SERVING:
            # It may become another program yet.
            self._passed[pid] = process.start_ticks, process.comm
            return False
        # A process that gave itself a title may have written it over its environment.
        kin = process.parent in self._ours or process.session in self._sessions or pid == os.getpid()
        if not kin and (pid, process.start_ticks) in self._used:
            return True
        marked = bool(self._marks & set(_words(self._proc, pid, "environ")))
        if marked:
            self._sessions.add(process.session)
        if marked or kin or _is_kvtui(_words(self._proc, pid, "cmdline")):
            self._ours[pid] = process.start_ticks
            return False
        return True


def _is_kvtui(words: List[bytes]) -> bool:
    root = ROOT.encode()
    return any(
        word == root or word.rpartition(b"/")[2] == b"kvtui" or word.startswith(b"kvtui.") for word in words
    )


def _lives(found: Dict[int, Process], pid: int, start_ticks: int) -> bool:
    return pid in found and found[pid].start_ticks == start_ticks


def _grown(before: Used, now: Used, name: str) -> int:
    old, new = getattr(before, name), getattr(now, name)
    return max(0, new - old) if old is not None and new is not None else 0


def _pids(proc: str) -> List[int]:
    try:
        return [int(name) for name in os.listdir(proc) if name.isdecimal()]
    except OSError:
        return []


def _read(proc: str, pid: int) -> Optional[Process]:
    try:
        with open("%s/%d/stat" % (proc, pid), "rb") as file:
            name, _, rest = file.read().rpartition(b")")
        fields = rest.split()
        return Process(
            comm=name.partition(b"(")[2].decode("utf-8", "replace"),
            parent=int(fields[1]),
            session=int(fields[3]),
            start_ticks=int(fields[19]),
            cpu_s=(int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"),
        )
    except (OSError, ValueError, IndexError):
        return None


def _used(proc: str, pid: int, process: Process) -> Used:
    sizes = counters.process_io(counters.bytes_of("%s/%d/io" % (proc, pid)))
    return Used(process.cpu_s, sizes.get("read_bytes"), sizes.get("write_bytes"))


def _words(proc: str, pid: int, name: str) -> List[bytes]:
    """The parts of ``environ`` or ``cmdline``; none when it is gone or may not be read."""
    try:
        with open("%s/%d/%s" % (proc, pid, name), "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []
