"""Ends processes and makes sure that they have ended."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import Callable, List, NamedTuple, Set

from . import procfs

KILL_WAIT_S = 5.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.01, 0.2


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
    asked: Set[procfs.Stat] = set()

    def ask(alive: List[procfs.Stat]) -> None:
        _signal([s for s in alive if s not in asked], signal.SIGTERM)
        asked.update(alive)

    alive = _until_none(members, grace_s, ask)
    killed = bool(alive)
    if killed:
        alive = _until_none(members, KILL_WAIT_S, lambda rest: _signal(rest, signal.SIGKILL))
    return Ending(killed, alive)


def _until_none(
    members: Callable[[], List[procfs.Stat]], limit_s: float, act: Callable[[List[procfs.Stat]], None]
) -> List[procfs.Stat]:
    """Act on the members until there are none or the time is over; those that are left."""
    deadline, pause_s = time.monotonic() + limit_s, FIRST_PAUSE_S
    alive = members()
    while alive and time.monotonic() < deadline:
        act(alive)
        time.sleep(pause_s)
        # Each look reads all of /proc.
        pause_s = min(1.5 * pause_s, LONGEST_PAUSE_S)
        alive = members()
    return alive


def _signal(targets: List[procfs.Stat], number: signal.Signals) -> None:
    for target in targets:
        if procfs.is_alive(target.pid, target.start_ticks):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(target.pid, number)
                # A stopped process acts on TERM only once it runs again.
                os.kill(target.pid, signal.SIGCONT)
