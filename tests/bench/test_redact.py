"""What is recorded says nothing of the machine that it came from."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.redact import redact
from kvtui.journal import Event
from kvtui.recordings import RECORDED, replay
from kvtui.tables import result_text
from tests.kvtui.plans import LAB_REUSE

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("open /root/.cache/x", "open /home/user/.cache/x"),
        ("'/home/anna/model'", "'/home/user/model'"),
        ('"/Users/anna.b/m"', '"/home/user/m"'),
        ("/root/.pyenv/versions/3.12.4/lib/python3.12/x.py", "/usr/lib/python3.12/x.py"),
        ("the root of a tree, a /rootless one", "the root of a tree, a /rootless one"),
        ("box-17 said: box-17:8000", "operator said: operator:8000"),
    ],
)
def test_paths_users_and_names_are_replaced(text: str, clean: str) -> None:
    assert redact(text, {"box-17": "operator"}) == clean


@pytest.mark.parametrize("folder", ["tests/data", "kvtui/recorded"])
def test_nothing_committed_names_a_home(folder: str) -> None:
    for path in (ROOT / folder).rglob("*"):
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            assert redact(text, {}) == text, path


def test_the_recorded_run_is_whole_and_says_that_it_is_recorded() -> None:
    seen: list[Event] = []
    result = replay(RECORDED, seen.append)
    assert result.state == "done"
    assert {(row.topology, row.tier): row.reused for row in result.rows} == LAB_REUSE
    assert "Recorded: these figures were measured on another machine" in result_text(result)
    assert seen
