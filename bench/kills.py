"""Kill kvtui at seeded random moments of lab runs: ``python -m bench.kills [--kills N] [--seed N]``."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.circumstances import about
from bench.killed_run import killed_run
from bench.record_check import problems
from kvtui.paths import places

KILLS_A_RUN = 4
# From the first words of kvtui to well inside a start of engines, a gate or a pass.
EARLIEST_S, LATEST_S = 1.0, 45.0
RECORD = Path(__file__).parents[1] / "docs" / "records" / "kills.json"
PLAN = Path(__file__).parent / "kills.toml"


def _kill_runs(kills: int, chance: random.Random, env: dict[str, str], runs: Path) -> list[dict[str, Any]]:
    """Runs until so many kills are made; what came of each."""
    rows: list[dict[str, Any]] = []
    made = 0
    while made < kills:
        count = min(KILLS_A_RUN, kills - made)
        moments_s = [chance.uniform(EARLIEST_S, LATEST_S) for _ in range(count)]
        run = killed_run([str(PLAN)], moments_s, env, runs)
        found = problems(run.record)
        made += len(run.kills)
        rows.append({"kills": run.kills, "exit_code": run.exit_code, "problems": found})
        print(f"{made}/{kills} kills, exit {run.exit_code}, problems: {list(found) or 'none'}", flush=True)
        for after_s, step in run.kills:
            print(f"  after {after_s:5.1f} s, in {step}", flush=True)
        if run.exit_code != 0:
            print(run.output, flush=True)
    return rows


def main() -> int:
    """Kill, attach, check; print and record what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=20261129)
    parser.add_argument("--record", type=Path, default=RECORD)
    options = parser.parse_args()
    circumstances = about(f"python -m bench.kills --kills {options.kills} --seed {options.seed}")
    chance = random.Random(options.seed)  # noqa: S311 - moments, not secrets
    with tempfile.TemporaryDirectory() as directory:
        data = Path(directory) / "kvtui"
        data.mkdir()
        (data / "engine-cpu").symlink_to(places().engine)
        env = {**os.environ, "XDG_DATA_HOME": directory}
        try:
            rows = _kill_runs(options.kills, chance, env, data / "runs")
        finally:
            subprocess.run([sys.executable, "-m", "kvtui", "lab", "down"], env=env, check=False)
    report = {
        **circumstances,
        "kills": sum(len(row["kills"]) for row in rows),
        "runs": rows,
    }
    options.record.parent.mkdir(parents=True, exist_ok=True)
    options.record.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 1 if any(row["problems"] or row["exit_code"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
