"""Processes as /proc shows them."""

from __future__ import annotations

import os
from typing import Callable, Dict, List, NamedTuple, Optional


class Stat(NamedTuple):
    """A live process, from ``/proc/PID/stat`` (proc(5))."""

    pid: int
    comm: str
    pgid: int
    session: int
    start_ticks: int


def stat(pid: int) -> Optional[Stat]:
    """The process, or None when it is gone; a zombie is gone: it only waits to be collected."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return None
    # The name stands in parentheses and may itself hold spaces and parentheses.
    opening, closing = text.find("("), text.rfind(")")
    fields = text[closing + 2 :].split()
    if len(fields) < 20 or fields[0] in ("Z", "X", "x"):
        return None
    return Stat(pid, text[opening + 1 : closing], int(fields[2]), int(fields[3]), int(fields[19]))


def is_alive(pid: int, start_ticks: int) -> bool:
    """Whether this very process lives, and not another one that was given its number."""
    found = stat(pid)
    return found is not None and found.start_ticks == start_ticks


def pids() -> List[int]:
    """Every process on the host."""
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def environ(pid: int) -> Optional[Dict[str, str]]:
    """The environment that a process was started with; None when it is gone or may not be read."""
    try:
        with open("/proc/%d/environ" % pid, "rb") as file:
            raw = file.read()
    except OSError:
        return None
    result = {}
    for item in raw.split(b"\0"):
        name, separator, value = item.partition(b"=")
        if separator:
            result[name.decode("utf-8", "replace")] = value.decode("utf-8", "surrogateescape")
    return result


def group(pgid: int, leader_start_ticks: int) -> List[Stat]:
    """The living members of a process group, or of the session of the same number.

    Nothing when the leader's number now belongs to a later process: the group is then another one.
    """
    leader = stat(pgid)
    if leader is not None and leader.start_ticks != leader_start_ticks:
        return []
    found = (stat(pid) for pid in pids())
    return [s for s in found if s is not None and pgid in (s.pgid, s.session) and s.pid != os.getpid()]


def having(matches: Callable[[Dict[str, str]], bool]) -> List[Stat]:
    """The living processes whose environment matches, this one excepted."""
    result = []
    for pid in pids():
        if pid == os.getpid():
            continue
        values = environ(pid)
        if values and matches(values):
            found = stat(pid)
            if found is not None:
                result.append(found)
    return result
