"""Kill kvtui at seeded random moments of lab runs: ``python -m bench.kills [--kills N] [--seed N]``."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.killed_run import killed_run
from bench.record_check import problems
from kvtui.paths import places

KILLS_A_RUN = 4
# From the first words of kvtui to well inside a start of engines, a gate or a pass.
EARLIEST_S, LATEST_S = 1.0, 45.0
RECORD = Path(__file__).parents[1] / "docs" / "records" / "kills.json"
PLAN = Path(__file__).parent / "kills.toml"


def _commit() -> str:
    done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def main() -> int:
    """Run until so many kills are made; print and record each, and what was wrong with any record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=20261129)
    parser.add_argument("--record", type=Path, default=RECORD)
    options = parser.parse_args()
    chance = random.Random(options.seed)  # noqa: S311 - moments, not secrets
    rows = []
    made = 0
    with tempfile.TemporaryDirectory() as directory:
        data = Path(directory) / "kvtui"
        data.mkdir()
        (data / "engine-cpu").symlink_to(places().engine)
        env = {**os.environ, "XDG_DATA_HOME": directory}
        while made < options.kills:
            count = min(KILLS_A_RUN, options.kills - made)
            moments_s = [chance.uniform(EARLIEST_S, LATEST_S) for _ in range(count)]
            run = killed_run([str(PLAN)], moments_s, env, data / "runs")
            found = problems(run.record)
            made += len(run.kills)
            rows.append({"kills": run.kills, "exit_code": run.exit_code, "problems": found})
            print(f"{made}/{options.kills} kills, exit {run.exit_code}, problems: {list(found) or 'none'}")
            for after_s, step in run.kills:
                print(f"  after {after_s:5.1f} s, in {step}")
            if run.exit_code != 0:
                print(run.output)
    report = {
        "command": f"python -m bench.kills --kills {options.kills} --seed {options.seed}",
        "commit": _commit(),
        "date": time.strftime("%Y-%m-%d"),
        "kills": made,
        "runs": rows,
    }
    options.record.parent.mkdir(parents=True, exist_ok=True)
    options.record.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 1 if any(row["problems"] or row["exit_code"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
