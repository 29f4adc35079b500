"""The run directories on the operator's machine: one a run, never overwritten."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kvtui.errors import RecordError
from kvtui.journal import iter_events
from kvtui.plan import Plan
from kvtui.run_state import state_of

_LOCK_TRIES = 10
_LOCK_PAUSE_S = 0.02


def _locked(fd: int) -> bool:
    """Take the lock of the one follower; whoever only asks who follows holds it for a moment, too."""
    for _ in range(_LOCK_TRIES):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(_LOCK_PAUSE_S)
        else:
            return True
    return False


@dataclass(frozen=True, slots=True)
class RunRecord:
    """Paths of one run's record.

    Attributes:
        path: Its directory, named after the run.
    """

    path: Path

    @property
    def run(self) -> str:
        """Id of the run."""
        return self.path.name

    @property
    def events(self) -> Path:
        """Everything that happened."""
        return self.path / "events.jsonl"

    @property
    def plan_file(self) -> Path:
        """The plan as it was carried out."""
        return self.path / "plan.json"

    @property
    def target_file(self) -> Path:
        """Where the plan's nodes were."""
        return self.path / "target.json"

    @property
    def documents(self) -> Path:
        """The token ids that were sent."""
        return self.path / "documents.jsonl"

    @property
    def environment(self) -> Path:
        """Versions and hardware of every node."""
        return self.path / "environment.json"

    @property
    def ceilings(self) -> Path:
        """What the nodes could do, as it was known when the run was made."""
        return self.path / "ceilings.json"

    @property
    def result(self) -> Path:
        """The tables, as JSON."""
        return self.path / "result.json"

    @property
    def now(self) -> Path:
        """What happens this second, while the run is followed."""
        return self.path / "now.json"

    @property
    def follower_log(self) -> Path:
        """What a detached follower says."""
        return self.path / "follower.log"

    @property
    def logs(self) -> Path:
        """The copies of the engines' logs."""
        return self.path / "logs"

    def log(self, node: str, block: str, attempt: int) -> Path:
        """The copy of an engine's log."""
        return self.logs / f"{node}.{block}.{attempt}.engine.log"

    def metrics(self, name: str) -> Path:
        """A reading of an engine's counters."""
        return self.path / "metrics" / f"{name}.txt"

    def write(self, path: Path, text: str) -> None:
        """Write a file of the record, whole or not at all."""
        part = path.with_name(path.name + ".part")
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)

    def write_json(self, path: Path, data: Any) -> None:
        """Write a JSON file of the record, whole or not at all."""
        self.write(path, json.dumps(data, indent=1, ensure_ascii=False) + "\n")

    def plan(self) -> Plan:
        """The plan as it was carried out.

        Raises:
            RecordError: There is none, so this is no run.
        """
        try:
            data = json.loads(self.plan_file.read_text(encoding="utf-8"))
            # A plan that does not say it is from when cold passes went by the list.
            if isinstance(data, dict) and isinstance(data.get("passes"), dict):
                data["passes"].setdefault("cold_order", "listed")
            return Plan.model_validate_json(json.dumps(data))
        except OSError as error:
            raise RecordError(
                f"{self.path} is not the record of a run: its plan.json cannot be read: {error.strerror}."
            ) from error
        except ValueError as error:
            raise RecordError(
                f"{self.path} is not the record of a run: its plan.json holds no plan of this kvtui."
            ) from error

    @contextmanager
    def follow(self) -> Iterator[None]:
        """Be the only process that carries this run on.

        Raises:
            RecordError: Another process does already.
        """
        fd = os.open(self.path / "follower", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if not _locked(fd):
                raise RecordError(
                    f"Run {self.run} is already followed by process {self.follower_pid()}.",
                    f"Watch that one, or end the run with: kvtui stop {self.run}",
                )
            os.ftruncate(fd, 0)
            os.pwrite(fd, str(os.getpid()).encode(), 0)
            yield
        finally:
            os.close(fd)

    def follower_pid(self) -> int | None:
        """Process that carries this run on at the moment, or ``None``."""
        try:
            with (self.path / "follower").open("r+") as file:
                try:
                    # Shared, so that those who ask do not take each other for a follower.
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except OSError:
                    return int(file.read() or 0) or None
        except FileNotFoundError:
            return None
        return None


def new_run_id(now_s: float) -> str:
    """An id that sorts by time and fits into keys, file names and environment variables."""
    return f"{time.strftime('%y%m%d-%H%M%S', time.gmtime(now_s))}-{secrets.token_hex(2)}"


def create(runs: Path, now_s: float) -> RunRecord:
    """Make the directory of a new run."""
    while True:
        path = runs / new_run_id(now_s)
        try:
            path.mkdir(parents=True, mode=0o700)
        except FileExistsError:
            continue
        (path / "logs").mkdir()
        (path / "metrics").mkdir()
        return RunRecord(path)


def records(runs: Path) -> tuple[RunRecord, ...]:
    """All runs, the oldest first."""
    return tuple(RunRecord(path) for path in sorted(runs.glob("*-*-*")) if (path / "plan.json").exists())


def _under_way(record: RunRecord) -> bool:
    """Whether a run is not over; a record that nobody can read is no run that could go on."""
    try:
        return state_of(iter_events(record.events))[0] == "running"
    except RecordError:
        return False


def find(runs: Path, run: str | None, *, unfinished: bool) -> RunRecord:
    """The record of a run, by its id or the start of it.

    Args:
        runs: Directory of all runs.
        run: Id, or ``None`` for the latest.
        unfinished: Look only at runs that are not over when no id is given.

    Raises:
        RecordError: None fits, or several do.
    """
    known = records(runs)
    if run is None:
        kept = [record for record in known if not unfinished or _under_way(record)]
        if not kept:
            what = "No run is under way" if unfinished else "There is no run"
            raise RecordError(f"{what} in {runs}.", "Start one with: kvtui launch")
        return kept[-1]
    matches = [record for record in known if record.run.startswith(run)]
    if len(matches) != 1:
        many = f"fits {len(matches)} runs" if matches else "fits no run"
        raise RecordError(f"{run!r} {many} in {runs}.", "Give the whole id.")
    return matches[0]
