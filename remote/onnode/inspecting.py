"""What the processes of a detached process were started with."""

from __future__ import annotations

from typing import Any, Dict

from . import procfs
from .record import Record


def environ(args: Dict[str, Any]) -> Dict[str, Any]:
    """The variables ``names`` of every process of ``dir``; null for one that is not set."""
    processes = []
    for member in _members(args):
        values = procfs.environ(member.pid)
        if values is not None:
            chosen = {name: values.get(name) for name in args["names"]}
            processes.append({"pid": member.pid, "comm": member.comm, "values": chosen})
    return {"processes": processes}


def _members(args: Dict[str, Any]) -> "list[procfs.Stat]":
    record = Record(args["dir"])
    return record.members(record.state())
