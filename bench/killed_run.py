"""A run of kvtui that is killed (SIGKILL) at chosen moments, and attached again each time."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kvtui.record import RunRecord

_LIMIT_S = 1500.0


@dataclass(frozen=True, slots=True)
class KilledRun:
    """What came of it.

    Attributes:
        record: The record of the run.
        kills: After how many seconds of each try it was killed, and what it was doing.
        exit_code: Exit code of the try that was left alone.
        output: What that one wrote.
    """

    record: RunRecord
    kills: tuple[tuple[float, str], ...]
    exit_code: int
    output: str


def _doing(record: RunRecord | None) -> str:
    if record is None or not record.events.exists():
        return "before the record"
    lines = record.events.read_text(encoding="utf-8").splitlines()
    begun = [line for line in lines if '"step_begin"' in line]
    return begun[-1].split('"step": "')[1].split('"')[0] if begun else "before the first step"


def _latest(runs: Path, known: set[Path]) -> RunRecord | None:
    fresh = [path for path in runs.glob("*") if path not in known and (path / "plan.json").exists()]
    return RunRecord(max(fresh)) if fresh else None


def killed_run(
    arguments: Sequence[str], moments_s: Sequence[float], env: Mapping[str, str], runs: Path
) -> KilledRun:
    """Launch a run, kill kvtui after each of the moments, attach each time, and leave the last try alone.

    A moment is counted from the start of its try. A try that ends before its moment ends the whole.

    Args:
        arguments: What follows ``kvtui launch``.
        moments_s: When to kill.
        env: Environment of kvtui.
        runs: Where it keeps its records.
    """
    known = set(runs.glob("*"))
    kills: list[tuple[float, str]] = []
    record: RunRecord | None = None
    deadline_s = time.monotonic() + _LIMIT_S
    for moment_s in [*moments_s, None]:
        command = ["launch", *arguments] if record is None else ["attach", record.run]
        process = subprocess.Popen(
            [sys.executable, "-m", "kvtui", *command],
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        limit_s = deadline_s - time.monotonic() if moment_s is None else moment_s
        try:
            output, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
            record = _latest(runs, known)
            kills.append((round(limit_s, 2), _doing(record)))
            continue
        break
    record = record or _latest(runs, known)
    if record is None:
        raise RuntimeError(f"no run was recorded: {output}")
    return KilledRun(record, tuple(kills), process.returncode, output)
