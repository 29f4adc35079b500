"""Carries a run on in a process of its own, which outlives the one that started it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from pathlib import Path

from kvtui.errors import RecordError
from kvtui.loglines import clean
from kvtui.record import RunRecord
from kvtui.run_secrets import Secrets

START_LIMIT_S = 30.0
_POLL_S = 0.05
_LAST_BYTES = 1 << 14


def alive(record: RunRecord) -> bool:
    """Whether a process carries the run on."""
    return record.follower_pid() is not None


def last_words(record: RunRecord) -> str:
    """The last line that a detached follower wrote: where it failed, its one sentence; or nothing."""
    return _last_line(record.follower_log, 0)


def start(record: RunRecord, secrets: Secrets | None = None) -> int:
    """Start a process that carries a run to its end, or find the one that does; its number.

    It has a session of its own, so that neither the terminal nor its parent takes it along; what it says is
    in the record's ``follower.log``. A run that is over already is not followed.

    Args:
        record: The run.
        secrets: What it must know; handed over once, on its standard input.

    Raises:
        RecordError: It ended at once, with what it said, or did not take the run in time.
    """
    known = record.follower_pid()
    if known is not None:
        return known
    said_before = _size(record.follower_log)
    with record.follower_log.open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "kvtui", "attach", record.run, "--secrets-stdin"],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
            text=True,
        )
    # Collected when it ends, so that a long-lived parent keeps no zombie.
    threading.Thread(target=process.wait, daemon=True, name=f"follower of {record.run}").start()
    # One that has ended already reads nothing; what it said is told below.
    with contextlib.suppress(BrokenPipeError):
        _hand_over(process, secrets or Secrets())
    deadline_s = time.monotonic() + START_LIMIT_S
    while True:
        ended = process.poll()
        follower = record.follower_pid()
        if follower is not None or ended == 0:
            return follower or process.pid
        if ended is not None:
            said = _last_line(record.follower_log, said_before)
            raise RecordError(
                said or f"The process that was to follow run {record.run} ended without a word."
            )
        if time.monotonic() > deadline_s:
            process.terminate()
            raise RecordError(
                f"Process {process.pid} did not take run {record.run} within {START_LIMIT_S:.0f} s.",
                f"Read {record.follower_log}.",
            )
        time.sleep(_POLL_S)


def _hand_over(process: subprocess.Popen[str], secrets: Secrets) -> None:
    if process.stdin is None:
        raise AssertionError
    with process.stdin as pipe:
        pipe.write(secrets.to_text())


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _last_line(log: Path, start: int) -> str:
    """The last line of a log behind a byte of it, without escapes; nothing where there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(start, _size(log) - _LAST_BYTES))
            lines = file.read().decode("utf-8", "replace").strip().splitlines()
    except FileNotFoundError:
        return ""
    return clean(lines[-1]) if lines else ""
