"""The app in a real terminal: opens, is walked by keyboard, is resized, and leaves the terminal as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvtui.recordings import RECORDED
from tests.terminal.conftest import Open


def test_it_opens_walks_and_leaves_the_terminal_as_it_was(terminal: Open) -> None:
    tmux = terminal()
    tmux.wait_for("run the default plan on this machine")
    assert tmux.alternate()
    for key, words in (("5", "No results yet"), ("6", "No run yet"), ("4", "No run yet on this machine")):
        tmux.press(key)
        tmux.wait_for(words)
    tmux.press("?")
    tmux.wait_for("esc Close")
    tmux.press("Escape")
    tmux.wait(lambda shown: "esc Close" not in shown)
    tmux.press("q")
    tmux.wait_for("ended with 0")
    assert not tmux.alternate()


@pytest.mark.parametrize("exported", [{}, {"COLUMNS": "80", "LINES": "24"}], ids=["plain", "exported"])
def test_a_small_window_is_told_so_and_a_large_one_shows_all_again(
    terminal: Open, exported: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    tmux = terminal(**exported)
    tmux.wait_for("run the default plan on this machine")
    tmux.press("5")
    tmux.wait_for("No results yet")
    tmux.resize(50, 12)
    tmux.wait_for("kvtui needs 60 columns")
    tmux.resize(200, 50)
    tmux.wait_for("No results yet")


def test_hostile_names_in_settings_and_records_reach_no_terminal(terminal: Open, own_places: Path) -> None:
    run = own_places / "data" / "kvtui" / "runs" / "260101-000000-abcd"
    run.mkdir(parents=True)
    plan = (RECORDED / "plan.json").read_text("utf-8")
    (run / "plan.json").write_text(plan.replace('"name": "lab"', '"name": "lab"', 1))
    events = (RECORDED / "events.jsonl").read_text("utf-8").splitlines(keepends=True)
    hostile = (
        '{"v":1,"src":"kvtui","wall_s":0,"kind":"finding","finding":{"level":"warning","code":"x",'
        '"text":"\\u001b]0;stolen\\u0007[red]\\u202eabc","remedy":"","where":"\\u001b[2J"}}\n'
    )
    (run / "events.jsonl").write_text("".join([*events[:40], hostile, *events[40:]]))
    tmux = terminal(columns=120, rows=36)
    tmux.wait_for("kvtui")
    tmux.press("5")
    shown = tmux.wait_for("[red]")
    assert "[red]" in shown
    assert "\u202e" not in shown
    assert "stolen" not in tmux.title()
    tmux.press("4")
    tmux.wait_for("TTFT")
    assert "stolen" not in tmux.title()


def test_without_colour_it_still_works(terminal: Open) -> None:
    tmux = terminal("--theme", "kvtui-contrast", NO_COLOR="1")
    tmux.wait_for("run the default plan on this machine")


def test_bad_settings_are_one_sentence(terminal: Open, own_places: Path) -> None:
    config = own_places / "config" / "kvtui"
    config.mkdir(parents=True)
    (config / "config.toml").write_text("theme = 3\n")
    tmux = terminal()
    shown = tmux.wait_for("ended with 2")
    assert "theme" in shown
    assert "Traceback" not in shown
