"""Stops detached processes and proves that nothing of them is left."""

from __future__ import annotations

import os
import time
from typing import Any, Dict, Iterable, List, Set

from . import ending, places, procfs
from .failure import Failure
from .record import DIR, HOME, KEEPS, MARKER, Record

KEEPER_LIMIT_S = 5.0
POLL_S = 0.02


def stop(args: Dict[str, Any]) -> Dict[str, Any]:
    """End the process of ``dir`` with all that belongs to it; one that has ended or never was is fine.

    Raises:
        Failure: ``survivors``, with their ``pids``.
    """
    record = Record(args["dir"])
    if not os.path.isdir(record.dir):
        return {"stopped": True, "killed": False}
    # A spawn under way holds the lock until its process can be found.
    with places.locked(record.path("spawn.lock")):
        state = record.state()
        if state is not None and record.exit() is None:
            _ask(record)
        result = ending.end(lambda: record.members(state), float(args["grace_s"]))
        _refuse_survivors(result.survivors)
        _settle([record])
    return {"stopped": True, "killed": result.killed}


def stop_marker(args: Dict[str, Any]) -> Dict[str, Any]:
    """End every process of the run ``marker`` that was started from this home directory.

    Raises:
        Failure: ``survivors``, with their ``pids``.
    """
    marker = args["marker"]
    if not marker:
        raise Failure("bad-request", "A run marker must not be empty.")
    dirs: Set[str] = set()

    def members() -> List[procfs.Stat]:
        found = marked(marker)
        for member in found:
            directory = (procfs.environ(member.pid) or {}).get(DIR)
            if directory and directory not in dirs and os.path.isdir(directory):
                dirs.add(directory)
                _ask(Record(directory))
        return found

    count = len(members())
    deadline = time.monotonic() + KEEPER_LIMIT_S
    killed = False
    while True:
        result = ending.end(members, float(args["grace_s"]))
        _refuse_survivors(result.survivors)
        killed = killed or result.killed
        # A keeper that was just starting may start its process only now.
        if not _keepers(marker) or time.monotonic() > deadline:
            break
        time.sleep(POLL_S)
    _settle(Record(directory) for directory in sorted(dirs))
    return {"stopped": True, "killed": killed, "count": count}


def marked(marker: str) -> List[procfs.Stat]:
    """The living processes of a run that were started from this home directory."""
    here = places.home()
    return procfs.having(lambda values: values.get(MARKER) == marker and values.get(HOME) == here)


def _keepers(marker: str) -> List[procfs.Stat]:
    here = places.home()
    return procfs.having(lambda values: values.get(KEEPS) == marker and values.get(HOME) == here)


def _ask(record: Record) -> None:
    """Leave word for the keeper that the end was asked for."""
    with open(record.stop_path, "a", encoding="ascii"):
        pass


def _settle(records: Iterable[Record]) -> None:
    """Wait until the keepers have written how it ended; do it for a keeper that is gone."""
    for record in records:
        state = record.state()
        deadline = time.monotonic() + KEEPER_LIMIT_S
        while state is not None and record.keeper_lives(state) and time.monotonic() < deadline:
            time.sleep(POLL_S)
        if state is not None and record.exit() is None:
            record.write_exit(None, "stopped")


def _refuse_survivors(survivors: List[procfs.Stat]) -> None:
    if survivors:
        listed = ", ".join("%d (%s)" % (s.pid, s.comm) for s in survivors)
        raise Failure("survivors", "Still alive after SIGKILL: %s." % listed, pids=[s.pid for s in survivors])
