"""The keeper: starts one process, watches its lease, and writes down how it ended.

It runs in a session of its own, so that neither the SSH channel nor the operator's machine can take it along.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from typing import Any, Dict, List, Optional

from . import ending, places, procfs
from .record import DIR, HOME, KEEPS, MARKER, Record

GRACE_S = 10.0
LONGEST_NAP_S = 10.0


def main(arguments: List[str]) -> int:
    """Keep the process that ``spec.json`` in the given directory describes."""
    record = Record(arguments[0])
    spec = places.read_json(record.path("spec.json"))
    if spec is None:
        return 2
    wake = _wake_on_child()
    try:
        child = _start(record, spec)
    except OSError as error:
        places.write_json(record.failed_path, {"reason": _why(error)})
        return 1
    state = _state(child, spec)
    places.write_json(record.state_path, state)
    lease_ran_out = _watch(record, child, spec["lease_s"], wake)
    if lease_ran_out:
        ending.end(lambda: _members(record, state, child), GRACE_S)
    # Also after a normal end: a helper that outlived its parent would hold memory and ports unseen.
    ending.end(lambda: _members(record, state, child), GRACE_S)
    exit_code = child.wait()
    record.write_exit(exit_code, _reason(record, lease_ran_out))
    return 0


def _start(record: Record, spec: Dict[str, Any]) -> "subprocess.Popen[bytes]":
    environment = {name: value for name, value in os.environ.items() if name != KEEPS}
    environment.update(spec["env"])
    environment.update({MARKER: spec["marker"], HOME: places.home(), DIR: record.dir})
    # Without this, setproctitle (which vLLM uses) overwrites the memory behind /proc/PID/environ.
    environment["SPT_NOENV"] = "1"
    log = os.open(record.log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        return subprocess.Popen(
            spec["argv"],
            cwd=spec["cwd"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    finally:
        os.close(log)


def _state(child: "subprocess.Popen[bytes]", spec: Dict[str, Any]) -> Dict[str, Any]:
    keeper = procfs.stat(os.getpid())
    return {
        "pid": child.pid,
        "pgid": child.pid,
        "start_ticks": _start_ticks(child.pid),
        "argv": spec["argv"],
        "marker": spec["marker"],
        "lease_s": spec["lease_s"],
        "started_wall_s": time.time(),
        "boot_id": places.boot_id(),
        "keeper_pid": os.getpid(),
        "keeper_start_ticks": keeper.start_ticks if keeper else 0,
    }


def _start_ticks(pid: int) -> int:
    """Field 22 of ``/proc/PID/stat``, also of a child that has ended and is not collected yet."""
    with open("/proc/%d/stat" % pid, "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[19])


def _watch(record: Record, child: "subprocess.Popen[bytes]", lease_s: float, wake: int) -> bool:
    """Wait for the process to end (False) or its lease to run out (True), asleep nearly all the time."""
    while child.poll() is None:
        left_s = record.lease_left_s(lease_s)
        if left_s <= 0:
            return True
        if select.select([wake], [], [], min(left_s, LONGEST_NAP_S))[0]:
            os.read(wake, 64)
    return False


def _members(record: Record, state: Dict[str, Any], child: "subprocess.Popen[bytes]") -> List[procfs.Stat]:
    child.poll()
    return record.members(state)


def _wake_on_child() -> int:
    """A descriptor that becomes readable when a child ends."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading


def _reason(record: Record, lease_ran_out: bool) -> str:
    if os.path.exists(record.stop_path):
        return "stopped"
    return "lease" if lease_ran_out else "exited"


def _why(error: OSError) -> str:
    place: Optional[str] = error.filename if isinstance(error.filename, str) else None
    reason = error.strerror or str(error)
    return "%s: %s" % (place, reason) if place else reason


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
