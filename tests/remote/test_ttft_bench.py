"""The bench of the probe runs; how fast it is, is not for a test to say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench" / "ttft_error.py"


def test_the_bench_prints_a_row_for_every_client() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCH), "--rounds", "2"], capture_output=True, text=True, timeout=60, check=True
    )
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[:2] for row in rows[1:3]] == [["probe", "2"], ["http.client", "2"]]
    # No client can have seen the token before it was sent.
    assert all(float(row[2]) > 0 for row in rows[1:3])
