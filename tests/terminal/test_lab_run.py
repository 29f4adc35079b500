"""A run on the real lab, started, watched, left and taken up again in a real terminal."""

from __future__ import annotations

import re
import subprocess
import sys
import time
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
# A title to steal, a screen to clear, text turned round, broken UTF-8, markup, a line without an end.
HOSTILE = (
    b"\x1b]0;stolen\x07\x1b[2J\x9b2J \xe2\x80\xaeKVTUI-HOSTILE [bold red]x[/] \xff\xfe WARNING \x1b[31mred\n"
    b"[2026-11-29 12:00:00,000] LMCache ERROR: \x1b]52;c;c3RvbGVu\x07KVTUI-HOSTILE (a.py:1:x)\n"
    + b"KVTUI-HOSTILE " * 150_000
    + b"\n"
)


@pytest.fixture
def lab_data(own_places: Path, engine_env: Path) -> Iterator[Path]:
    """A data directory with the engine environment; the lab in it is taken down in the end."""
    data = own_places / "data" / "kvtui"
    data.mkdir(parents=True)
    (data / "engine-cpu").symlink_to(engine_env)
    yield data
    # The places stand in the environment of this process.
    subprocess.run([sys.executable, "-m", "kvtui", "lab", "down"], check=True, capture_output=True)


def write_into_the_engines_log(data: Path) -> None:
    """Add the hostile lines to what the engine itself writes on its node."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not (logs := list(data.glob("lab/nodes/gpu-a/.kvtui/runs/*/*/engine/log"))):
        assert time.monotonic() < deadline_s
        time.sleep(0.2)
    with logs[0].open("ab") as log:
        log.write(HOSTILE)


def test_a_run_is_started_watched_left_and_taken_up_again(terminal: Open, lab_data: Path) -> None:
    plan = lab_data / "plan.toml"
    plan.write_text(PLAN)
    first = terminal("launch", str(plan), columns=120, rows=36)
    first.wait(lambda shown: "TTFT" in shown and "● run" in shown, PATIENCE_S)
    sent = lab_data / "sent"
    first.record(sent)
    write_into_the_engines_log(lab_data)
    first.wait_for("KVTUI-HOSTILE", PATIENCE_S)
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
    painted = sent.read_bytes()
    assert b"KVTUI-HOSTILE" in painted
    for harm in (b"stolen", b"\x1b]52;c;c3RvbGVu", b"\xe2\x80\xae", b"\x9b2J", b"\xff"):
        assert harm not in painted

    second = terminal(columns=120, rows=36)
    second.wait(lambda shown: "cached n=4" in shown and "✓ done" in shown, PATIENCE_S)
    second.press("5")
    second.wait_for("4/4")
    second.press("q")
    second.wait_for("ended with 0")

    record = find(lab_data / "runs", None, unfinished=False)
    result = result_of(record.run, record.plan(), read_events(record.events))
    assert (result.state, result.rows[0].reused) == ("done", 4)
