"""What the processes of a detached process were started with, and what they have read and written."""

from __future__ import annotations

from typing import Any, Dict, Optional

from . import procfs
from .record import Record

IO_FIELDS = ("read_bytes", "rchar", "write_bytes", "wchar")


def environ(args: Dict[str, Any]) -> Dict[str, Any]:
    """The variables ``names`` of every process of ``dir``; null for one that is not set."""
    processes = []
    for member in _members(args):
        values = procfs.environ(member.pid)
        if values is not None:
            chosen = {name: values.get(name) for name in args["names"]}
            processes.append({"pid": member.pid, "comm": member.comm, "values": chosen})
    return {"processes": processes}


def io(args: Dict[str, Any]) -> Dict[str, Any]:
    """The sums of ``/proc/PID/io`` over the processes of ``dir``; null when any of them may not be read."""
    counters = [_io(member.pid) for member in _members(args)]
    known = [c for c in counters if c is not None]
    if not counters or len(known) < len(counters):
        return {name: None for name in IO_FIELDS}
    return {name: sum(c[name] for c in known) for name in IO_FIELDS}


def _members(args: Dict[str, Any]) -> "list[procfs.Stat]":
    record = Record(args["dir"])
    return record.members(record.state())


def _io(pid: int) -> Optional[Dict[str, int]]:
    try:
        with open("/proc/%d/io" % pid, encoding="ascii") as file:
            pairs = (line.partition(":") for line in file)
            counters = {name: int(value) for name, _, value in pairs}
    except OSError:
        return None
    return counters if all(name in counters for name in IO_FIELDS) else None
