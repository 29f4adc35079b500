"""The watcher: one line a second on what the node is doing, in a file, until it is ended.

It must not disturb what it watches: the lowest priority, and well under one per cent of a core.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
import time
from typing import Any, Dict, List

from . import counters
from .engines import Engines
from .gpus import Gpus
from .others import Others

VERSION = 1
NICENESS = 19
PERIOD_S = 1.0


def main(arguments: List[str]) -> int:
    """Watch as the job file says: ``samples`` is the file to write, ``root`` the run's directory."""
    try:
        with open(arguments[0], encoding="utf-8") as file:
            job = json.load(file)
        log = SampleLog(job["samples"])
        engines = Engines(job["root"])
    except (IndexError, KeyError, TypeError, ValueError, OSError) as error:
        sys.stderr.write("The watcher cannot start: %s: %s.\n" % (type(error).__name__, error))
        return 2
    os.nice(NICENESS)
    _watch(log, engines, Gpus(), Others())
    return 0


def _watch(log: "SampleLog", engines: Engines, gpus: Gpus, others: Others) -> None:
    before = None
    due = time.monotonic()
    while True:
        now = counters.cpu_time(counters.text_of("/proc/stat"))
        sample = counters.sample(before, now)
        used = {"engine": engines.sample(), "others": others.sample(), "gpus": gpus.sample()}
        log.write({**sample, **used})
        before = now
        # After a pause of the whole host the seconds that are over are not made up for.
        due = max(due + PERIOD_S, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))


class SampleLog:
    """Appends samples to a file: one line and one write each, by one writer.

    Raises:
        BlockingIOError: Another watcher writes there.
    """

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        size = os.fstat(self._descriptor).st_size
        self._torn = size > 0 and os.pread(self._descriptor, 1, size - 1) != b"\n"

    def write(self, fields: Dict[str, Any]) -> None:
        """Append a sample; one for which there is no space is left out."""
        # Two clocks: one that is set, and one that only goes on, so that a step of the first is seen.
        clocks = {"wall_s": round(time.time(), 3), "mono_s": round(time.monotonic(), 3)}
        event = {"v": VERSION, "kind": "node_sample", **clocks, **fields}
        line = json.dumps(event, separators=(",", ":")).encode() + b"\n"
        if self._torn:
            # What a full disk cut off may have been read already, so it stays and only ends here.
            line = b"\n" + line
        with contextlib.suppress(OSError):
            written = os.write(self._descriptor, line)
            self._torn = written < len(line) and (written > 0 or self._torn)
