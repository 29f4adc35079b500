"""A campaign on a lab of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from bench.place import make_place
from kvtui.journal import read_events
from kvtui.paths import places
from kvtui.record import records
from kvtui.record_result import record_result
from kvtui.run_result import RunResult
from kvtui.samples import samples_of


def campaign(plan: Path, *program: str) -> RunResult | None:
    """Run a plan on a lab of its own, and end the lab; ``None`` where the run failed.

    Args:
        plan: The plan's file.
        program: The module that is run, with its first arguments; kvtui itself when empty.
    """
    engine = places().engine
    # Beside the engine environment, which is on a disk: elsewhere temporary files may lie in memory.
    with tempfile.TemporaryDirectory(dir=engine.parent) as directory:
        place = make_place(Path(directory), engine)
        python = [sys.executable, "-m"]
        try:
            launching = [*python, *(program or ("kvtui",)), "launch", str(plan)]
            ended = subprocess.run(launching, env=place.env, check=False)
        finally:
            subprocess.run([*python, "kvtui", "lab", "down"], env=place.env, check=False)
        if ended.returncode != 0:
            return None
        (record,) = records(place.runs)
        events = read_events(record.events)
        return RunResult(record_result(record, events=events), record.plan(), samples_of(events))
