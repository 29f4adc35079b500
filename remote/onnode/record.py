"""What is written about a detached process, in a directory of its own.

======================  ============================================================
``spec.json``           what to start, for the keeper
``state.json``          the process that was started, and its keeper
``failed.json``         why it could not be started
``exit.json``           how it ended
``lease``               its time of change is the last renewal
``stop``                somebody asked for the end
``log``                 standard output and error of the process
======================  ============================================================
"""

from __future__ import annotations

import os
import time
from typing import Any, Dict, List, Optional

from . import places, procfs

# In the environment of everything that a run starts.
MARKER, HOME, DIR = "KVTUI_RUN", "KVTUI_HOME", "KVTUI_DIR"
# In the environment of a keeper alone: the run whose process it keeps.
KEEPS = "KVTUI_KEEPS"


class Record:
    """The files of one detached process."""

    def __init__(self, directory: str) -> None:
        self.dir = places.absolute(directory)
        self.state_path = self.path("state.json")
        self.exit_path = self.path("exit.json")
        self.failed_path = self.path("failed.json")
        self.stop_path = self.path("stop")
        self.lease_path = self.path("lease")
        self.log_path = self.path("log")

    def path(self, name: str) -> str:
        return os.path.join(self.dir, name)

    def state(self) -> Optional[Dict[str, Any]]:
        return places.read_json(self.state_path)

    def exit(self) -> Optional[Dict[str, Any]]:
        return places.read_json(self.exit_path)

    def process_lives(self, state: Dict[str, Any]) -> bool:
        """Whether the process that was started still lives."""
        return self._lives(state, "pid", "start_ticks")

    def keeper_lives(self, state: Dict[str, Any]) -> bool:
        """Whether its keeper still lives."""
        return self._lives(state, "keeper_pid", "keeper_start_ticks")

    def members(self, state: Optional[Dict[str, Any]]) -> List[procfs.Stat]:
        """Everything alive that belongs to the process: its group, its session, and what carries its mark."""
        found = {s.pid: s for s in procfs.having(lambda values: values.get(DIR) == self.dir)}
        if state is not None and state["boot_id"] == places.boot_id():
            found.update((s.pid, s) for s in procfs.group(state["pgid"], state["start_ticks"]))
        return sorted(found.values())

    def touch_lease(self) -> None:
        with open(self.lease_path, "a", encoding="ascii"):
            os.utime(self.lease_path)

    def lease_left_s(self, lease_s: float) -> float:
        """Seconds until the lease runs out; a lease that was removed has run out."""
        try:
            return os.stat(self.lease_path).st_mtime + lease_s - time.time()
        except OSError:
            return 0.0

    def write_exit(self, exit_code: Optional[int], reason: str) -> None:
        places.write_json(
            self.exit_path, {"exit_code": exit_code, "reason": reason, "ended_wall_s": time.time()}
        )

    def _lives(self, state: Dict[str, Any], pid: str, start_ticks: str) -> bool:
        return state["boot_id"] == places.boot_id() and procfs.is_alive(state[pid], state[start_ticks])
