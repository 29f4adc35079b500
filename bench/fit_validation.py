"""Test the fit model's predictions on the lab: ``python -m bench.fit_validation [--fresh]``.

What was measured before stays; its prediction is always made anew.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from bench.fit_combinations import combinations
from bench.fit_measuring import Measurement, measure, measurement_from
from bench.fit_report import RECORD as RECORD_NAME
from bench.fit_report import contradicted, page
from bench.place import kvtui
from kvtui.paths import places

ROOT = Path(__file__).parents[1]
RECORD = ROOT / RECORD_NAME
PAGE = ROOT / "docs" / "fit-validation.md"


def _known(path: Path) -> list[Measurement]:
    if not path.exists():
        return []
    return [measurement_from(data) for data in json.loads(path.read_text(encoding="utf-8"))]


def _write(path: Path, measurements: Iterable[Measurement]) -> None:
    text = json.dumps([one.to_json() for one in measurements], indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def main() -> int:
    """Measure what is missing, write the page, and say whether anything contradicts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fresh", action="store_true", help="measure everything again")
    options = parser.parse_args()
    wanted = combinations()
    done = [] if options.fresh else [one for one in _known(RECORD) if one.combination in wanted]
    there = {one.combination for one in done}
    missing = [combination for combination in wanted if combination not in there]
    with tempfile.TemporaryDirectory() as directory:
        data = Path(directory) / "kvtui"
        data.mkdir()
        (data / "engine-cpu").symlink_to(places().engine)
        env = {**os.environ, "XDG_DATA_HOME": directory, "XDG_STATE_HOME": directory}
        try:
            if missing:
                kvtui(env, "lab", "up").check_returncode()
            for one in measure(missing, env, data, lambda text: print(text, flush=True)):
                done.append(one)
                done.sort(key=lambda known: wanted.index(known.combination))
                _write(RECORD, done)
                print(f"  {one.combination.tier_name}: {one.found}/{one.combination.documents}", flush=True)
        finally:
            if missing:
                kvtui(env, "lab", "down")
    PAGE.write_text(page(wanted, done), encoding="utf-8")
    problems = contradicted(wanted, done)
    for problem in problems:
        print(problem, flush=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
