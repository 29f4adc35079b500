"""All runs on this machine, each in a few figures, without reading what need not be read."""

from __future__ import annotations

import calendar
import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kvtui.errors import RecordError
from kvtui.follower import last_words
from kvtui.record import RunRecord, records
from kvtui.record_result import record_result

CUT_OFF = "cut off"
UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run in a list.

    Attributes:
        run: Its id.
        plan: Name of its plan; empty where its record cannot be read.
        when_wall_s: When it was begun; ``None`` where its id does not say.
        nodes: The plan's nodes.
        state: ``done``, ``failed``, ``stopped``, ``running`` (a process carries it on), ``cut off`` (none
            does, and it is not over), or ``unreadable``.
        reason: Why it failed, was stopped, or cannot be read; or empty.
        headline: Its best tier in short, as in ``valkey 6.0× 8/8``; empty where nothing was measured.
        size_bytes: Size of its record on disk.
    """

    run: str
    plan: str
    when_wall_s: float | None
    nodes: tuple[str, ...]
    state: str
    reason: str
    headline: str
    size_bytes: int


def headline(rows: Iterable[Mapping[str, Any]]) -> str:
    """The tier with the highest speedup, as in ``valkey 6.0× 8/8``; a fleet's row says so.

    Args:
        rows: Rows of a result, as JSON objects.
    """
    measured = [row for row in rows if row["speedup"] is not None]
    if not measured:
        return ""
    best = max(measured, key=lambda row: float(row["speedup"]))
    fleet = " fleet" if best["topology"] == "fleet" else ""
    return f"{best['tier']}{fleet} {best['speedup']:.1f}× {best['reused']}/{best['documents']}"


def _when_wall_s(run: str) -> float | None:
    try:
        return float(calendar.timegm(time.strptime(run[:13], "%y%m%d-%H%M%S")))
    except ValueError:
        return None


def _size_bytes(directory: Path) -> int:
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                total += (Path(folder) / name).lstat().st_size
            except OSError:
                continue  # it was removed meanwhile
    return total


def _result(record: RunRecord) -> dict[str, Any]:
    """The run's result as it was written at its end, or computed where events came after that."""
    try:
        if record.result.stat().st_mtime_ns >= record.events.stat().st_mtime_ns:
            found: dict[str, Any] = json.loads(record.result.read_text(encoding="utf-8"))
            return found
    except (OSError, ValueError):
        pass
    return record_result(record).to_json()


def _nodes(plan: Mapping[str, Any]) -> tuple[str, ...]:
    """The plan's nodes; a plan for the lab names only those of its passes."""
    if plan["nodes"]:
        return tuple(plan["nodes"])
    passes = plan["passes"]
    fleet = (passes["cached_node"],) if "fleet" in passes["topologies"] else ()
    return (passes["cold_node"], *fleet)


def summary(record: RunRecord) -> RunSummary:
    """One run in short; a record that cannot be read is said to be so, and nothing raises."""
    when, size = _when_wall_s(record.run), _size_bytes(record.path)
    try:
        plan = json.loads(record.plan_file.read_text(encoding="utf-8"))
        name, nodes = str(plan["name"]), _nodes(plan)
        followed = record.follower_pid() is not None
        found = _result(record)
        state, reason, best = found["state"], found["reason"], headline(found["rows"])
    except (RecordError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return RunSummary(record.run, "", when, (), UNREADABLE, str(error), "", size)
    if followed:
        state, reason = "running", ""
    elif state == "running":
        state, reason = CUT_OFF, last_words(record)
    return RunSummary(record.run, name, when, nodes, state, reason, best, size)


def list_runs(runs: Path) -> tuple[RunSummary, ...]:
    """All runs, the latest first.

    Args:
        runs: Directory of all runs.
    """
    return tuple(summary(record) for record in reversed(records(runs)))
