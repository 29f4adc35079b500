"""What the engines of a run use on this node, found by the records that their keepers write."""

from __future__ import annotations

import os
import time
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import counters, procfs
from .record import Record

ENGINE = "engine"
# A look for an engine's processes reads all of /proc: it may take this share of the time, at most so often.
LOOK_SHARE = 0.002
SHORTEST_S = 2.0


class Usage(NamedTuple):
    """Of one process, from /proc/PID/stat and /proc/PID/io (proc(5)); None where it may not be read."""

    start_ticks: int
    cpu_s: float
    rss_bytes: int
    read_bytes: Optional[int]
    write_bytes: Optional[int]
    rchar: Optional[int]


class Engines:
    """The living engine processes below a run's directory, looked for now and then and read each time."""

    def __init__(self, root: str, proc: str = "/proc") -> None:
        self._root = root
        self._proc = proc
        self._members: Dict[int, int] = {}
        self._states: List[Tuple[str, int]] = []
        self._next_look = 0.0

    def sample(self) -> Optional[Dict[str, Any]]:
        """Sums over the engines' processes; None when no engine runs."""
        self._look()
        found = []
        for pid, start_ticks in list(self._members.items()):
            used = usage(self._proc, pid)
            if used is None or used.start_ticks != start_ticks:
                del self._members[pid]
            else:
                found.append(used)
        if not found:
            return None
        return {
            "rss_bytes": sum(used.rss_bytes for used in found),
            "read_bytes": _sum([used.read_bytes for used in found]),
            "write_bytes": _sum([used.write_bytes for used in found]),
            "rchar": _sum([used.rchar for used in found]),
            "cpu_s": round(sum(used.cpu_s for used in found), 2),
        }

    def _look(self) -> None:
        states = _state_files(self._root)
        began = time.monotonic()
        if states == self._states and began < self._next_look:
            return
        self._states = states
        self._members = {}
        for path, _ in states:
            record = Record(os.path.dirname(path))
            state = record.state()
            if state is not None and record.process_lives(state):
                found = procfs.group(state["pgid"], state["start_ticks"])
                self._members.update((member.pid, member.start_ticks) for member in found)
        ended = time.monotonic()
        self._next_look = ended + max(SHORTEST_S, (ended - began) / LOOK_SHARE)


def usage(proc: str, pid: int) -> Optional[Usage]:
    """What one process has used; None when it is gone."""
    try:
        with open("%s/%d/stat" % (proc, pid), "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        ticks_a_second = os.sysconf("SC_CLK_TCK")
        io = counters.process_io(counters.bytes_of("%s/%d/io" % (proc, pid)))
        return Usage(
            start_ticks=int(fields[19]),
            cpu_s=(int(fields[11]) + int(fields[12])) / ticks_a_second,
            rss_bytes=int(fields[21]) * os.sysconf("SC_PAGE_SIZE"),
            read_bytes=io.get("read_bytes"),
            write_bytes=io.get("write_bytes"),
            rchar=io.get("rchar"),
        )
    except (OSError, ValueError, IndexError):
        return None


def _sum(values: List[Optional[int]]) -> Optional[int]:
    """The sum, or None when any part of it is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _state_files(root: str) -> List[Tuple[str, int]]:
    """State files of the run's engines, with their times of change."""
    found = []
    try:
        blocks = sorted(os.listdir(root))
    except OSError:
        return []
    for block in blocks:
        path = os.path.join(root, block, ENGINE, "state.json")
        try:
            found.append((path, os.stat(path).st_mtime_ns))
        except OSError:
            continue
    return found
