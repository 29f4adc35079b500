"""A run on the real lab, started, watched, left and taken up again in a real terminal."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kvtui.journal import read_events
from kvtui.record import find
from kvtui.results import result_of
from tests.terminal.conftest import Open

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]
PLAN = """
name = "watched"
lab = true
[model]
path = "kvtui-tiny"
served_name = "kvtui-tiny"
[corpus]
documents = 4
tokens = 1040
[passes]
topologies = ["single"]
[[tiers]]
name = "dram"
kind = "dram"
capacity_gib = 0.5
"""
PATIENCE_S = 400.0


@pytest.fixture
def lab_data(own_places: Path, engine_env: Path) -> Iterator[Path]:
    """A data directory with the engine environment; the lab in it is taken down in the end."""
    data = own_places / "data" / "kvtui"
    data.mkdir(parents=True)
    (data / "engine-cpu").symlink_to(engine_env)
    yield data
    # The places stand in the environment of this process.
    subprocess.run([sys.executable, "-m", "kvtui", "lab", "down"], check=True, capture_output=True)


def test_a_run_is_started_watched_left_and_taken_up_again(terminal: Open, lab_data: Path) -> None:
    plan = lab_data / "plan.toml"
    plan.write_text(PLAN)
    first = terminal("launch", str(plan), columns=120, rows=36)
    first.wait(lambda shown: "TTFT" in shown and "● run" in shown, PATIENCE_S)
    first.resize(80, 24)
    first.wait(lambda shown: "TTFT" in shown and "Nodes" in shown, PATIENCE_S)
    first.press("Space")
    first.wait(lambda shown: re.search(r"(?i)paused|frozen", shown) is not None)
    first.press("Space")
    first.wait(lambda shown: re.search(r"(?i)paused|frozen", shown) is None)
    first.press("q")
    first.wait_for("Leave it running")
    first.press("Right", "Enter")
    first.wait_for("goes on. Watch it again with: kvtui")

    second = terminal(columns=120, rows=36)
    second.wait(lambda shown: "cached n=4" in shown and "✓ done" in shown, PATIENCE_S)
    second.press("5")
    second.wait_for("4/4")
    second.press("q")
    second.wait_for("ended with 0")

    record = find(lab_data / "runs", None, unfinished=False)
    result = result_of(record.run, record.plan(), read_events(record.events))
    assert (result.state, result.rows[0].reused) == ("done", 4)
