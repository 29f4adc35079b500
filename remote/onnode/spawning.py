"""Starts a detached process, and tells how it is."""

from __future__ import annotations

import os
import re
import subprocess
import time
from typing import Any, Dict, Optional

from . import ending, places
from .failure import Failure
from .launcher import argv_of
from .record import DIR, HOME, KEEPS, MARKER, Record

START_LIMIT_S = 20.0
POLL_S = 0.01


def spawn(args: Dict[str, Any]) -> Dict[str, Any]:
    """Start ``argv`` detached in ``dir``; a second call finds the process of the first.

    Raises:
        Failure: ``ended`` when the process of this directory has ended and ``again`` is not asked for,
            ``spawn-failed`` when it could not be started.
    """
    record = Record(args["dir"])
    if not re.fullmatch(r"[a-z0-9-]+", args["marker"]):
        raise Failure("bad-request", "The run marker %r is not made of a-z, 0-9 and '-'." % args["marker"])
    places.make_dir(record.dir)
    with places.locked(record.path("spawn.lock")):
        state = record.state()
        if state is not None:
            if record.process_lives(state) and record.exit() is None:
                return _answer(state, already=True)
            if not args.get("again"):
                raise Failure("ended", "The process in %s has ended already." % record.dir, **_status(record))
            _clear_away(record, state)
        _forget(record)
        record.touch_lease()
        places.write_json(record.path("spec.json"), _spec(args))
        return _answer(_start_keeper(record, args["argv"][0], args["marker"]), already=False)


def status(args: Dict[str, Any]) -> Dict[str, Any]:
    """How the processes in ``dirs`` are."""
    return {"processes": [_status(Record(directory)) for directory in args["dirs"]]}


def renew(args: Dict[str, Any]) -> Dict[str, Any]:
    """Start the leases of ``dirs`` anew; a directory that does not exist is passed over."""
    renewed = 0
    for directory in args["dirs"]:
        record = Record(directory)
        if os.path.isdir(record.dir):
            record.touch_lease()
            renewed += 1
    return {"renewed": renewed}


def _spec(args: Dict[str, Any]) -> Dict[str, Any]:
    cwd = args.get("cwd")
    return {
        "argv": [str(word) for word in args["argv"]],
        "env": {name: str(value) for name, value in (args.get("env") or {}).items()},
        "cwd": places.absolute(cwd) if cwd else places.home(),
        "lease_s": float(args["lease_s"]),
        "marker": args["marker"],
    }


def _start_keeper(record: Record, program: str, marker: str) -> Dict[str, Any]:
    environment = {k: v for k, v in os.environ.items() if k not in (MARKER, DIR)}
    environment.update({KEEPS: marker, HOME: places.home()})
    log = os.open(record.path("keeper.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        keeper = subprocess.Popen(
            argv_of("keeper", record.dir),
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    finally:
        os.close(log)
    deadline = time.monotonic() + START_LIMIT_S
    while True:
        # Asked before the files are read: what a keeper wrote before it ended is then seen.
        keeper_ended = keeper.poll() is not None
        state = record.state()
        if state is not None:
            return state
        failed = places.read_json(record.failed_path)
        if failed is not None:
            raise Failure("spawn-failed", "%s could not be started: %s." % (program, failed["reason"]))
        if keeper_ended or time.monotonic() > deadline:
            raise Failure(
                "spawn-failed", "%s was not started; %s says why." % (program, record.path("keeper.log"))
            )
        time.sleep(POLL_S)


def _clear_away(record: Record, state: Dict[str, Any]) -> None:
    """Let the keeper of an ended process finish, so that it does not write into its successor's record.

    What a keeper that was killed has left alive is ended.
    """
    deadline = time.monotonic() + START_LIMIT_S
    while record.keeper_lives(state):
        if time.monotonic() > deadline:
            raise Failure("spawn-failed", "The last process in %s is still being ended." % record.dir)
        time.sleep(POLL_S)
    ending.end(lambda: record.members(state), 0)


def _forget(record: Record) -> None:
    for path in (record.state_path, record.exit_path, record.failed_path, record.stop_path):
        places.remove_file(path)


def _answer(state: Dict[str, Any], already: bool) -> Dict[str, Any]:
    answer = {name: state[name] for name in ("pid", "pgid", "started_wall_s")}
    answer["already"] = already
    return answer


def _status(record: Record) -> Dict[str, Any]:
    state, end = record.state(), record.exit()
    name = "absent"
    lease_left_s: Optional[float] = None
    if end is not None:
        name = "ended"
    elif state is not None and (record.process_lives(state) or record.keeper_lives(state)):
        name = "running"
        lease_left_s = record.lease_left_s(state["lease_s"])
    elif state is not None:
        # The keeper writes its last word and goes; it may have done so since the file was looked for.
        end = record.exit()
        name = "ended" if end is not None else "lost"
    try:
        log_bytes = os.stat(record.log_path).st_size
    except OSError:
        log_bytes = 0
    return {
        "dir": record.dir,
        "state": name,
        "pid": state["pid"] if state else None,
        "pgid": state["pgid"] if state else None,
        "exit_code": end["exit_code"] if end else None,
        "reason": end["reason"] if end else None,
        "log_bytes": log_bytes,
        "started_wall_s": state["started_wall_s"] if state else None,
        "ended_wall_s": end["ended_wall_s"] if end else None,
        "lease_left_s": lease_left_s,
    }
