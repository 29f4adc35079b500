"""Ends processes and makes sure that they have ended."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import Callable, List, NamedTuple

from . import procfs

KILL_WAIT_S = 5.0
POLL_S = 0.02


class Ending(NamedTuple):
    """What an attempt to end processes came to."""

    killed: bool
    survivors: List[procfs.Stat]


def end(members: Callable[[], List[procfs.Stat]], grace_s: float) -> Ending:
    """Ask the members to end, then force those that did not.

    Args:
        members: Finds the living members anew; called until nothing is left, since members may fork.
        grace_s: Seconds between TERM and KILL.
    """
    asked = set()
    deadline = time.monotonic() + grace_s
    alive = members()
    while alive and time.monotonic() < deadline:
        _signal([s for s in alive if s not in asked], signal.SIGTERM)
        asked.update(alive)
        time.sleep(POLL_S)
        alive = members()
    killed = bool(alive)
    deadline = time.monotonic() + KILL_WAIT_S
    while alive and time.monotonic() < deadline:
        _signal(alive, signal.SIGKILL)
        time.sleep(POLL_S)
        alive = members()
    return Ending(killed, alive)


def _signal(targets: List[procfs.Stat], number: signal.Signals) -> None:
    for target in targets:
        if procfs.is_alive(target.pid, target.start_ticks):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(target.pid, number)
                # A stopped process acts on TERM only once it runs again.
                os.kill(target.pid, signal.SIGCONT)
