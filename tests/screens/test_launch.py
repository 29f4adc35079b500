"""The Launch screen, over made-up checks and a made-up start."""

from __future__ import annotations

from typing import Any

import pytest
from rich.table import Table
from textual.widgets import Log, Static
from textual.widgets._footer import FooterKey

from kvtui.app import KvtuiApp
from kvtui.errors import RunFailed
from screens.launch import LaunchScreen
from screens.modals.message import Message
from screens.modals.question import Question
from screens.session import Session
from screens.widgets.checks import CheckTable
from tests.screens.apps import Around
from tests.screens.launch_stage import (
    BLOCKED,
    MENDED,
    MIXED,
    PLAN,
    RUN,
    FakeLaunching,
    answer,
    app_of,
    line,
    settle,
    starts,
)


async def test_a_plan_is_checked_when_it_comes_and_enter_starts_it() -> None:
    port, session = FakeLaunching(), Session(plan=PLAN, on_lab=True)
    app = app_of(port, session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert port.did == [f"check {PLAN.name} True"]
        assert line(app) == "✓ Nothing blocks the launch. Press enter to run."
        await pilot.press("enter")
        await settle(pilot)
        assert starts(port) == [f"start {PLAN.name} True"]
        assert line(app) == "◐ vllm (2 of 4): 100 MB fetched"
        said = app.screen.query_one("#said", Log)
        assert said.display
        assert said.lines[0] == "Installing the lab's engine environment [/x]"
        await pilot.press("enter")
        assert len(starts(port)) == 1
        port.gate.set()
        await settle(pilot)
        assert app.current_mode == "live"
        assert session.run == RUN


async def test_a_plan_to_be_started_at_once_is_checked_and_started() -> None:
    port, session = FakeLaunching(), Session(plan=PLAN, start_now=True)
    app = app_of(port, session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert port.did == [f"check {PLAN.name} False", f"start {PLAN.name} False"]
        assert not session.start_now
        port.gate.set()
        await settle(pilot)
        assert app.current_mode == "live"


async def test_a_failed_check_blocks_and_is_named() -> None:
    port = FakeLaunching(BLOCKED)
    app = app_of(port, Session(plan=PLAN, start_now=True))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert starts(port) == []
        assert line(app) == "✗ Launch is blocked by: seed, hash: keys shared. f can fix it."
        current = app.screen.query_one(CheckTable).current
        assert current is not None
        assert current.id == "sharing"


async def test_enter_while_checks_run_waits_for_them() -> None:
    port = FakeLaunching()
    port.checking.clear()
    app = app_of(port, Session(plan=PLAN))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert line(app) == "◐ Checks are running."
        await pilot.press("enter")
        await settle(pilot)
        assert starts(port) == []
        port.checking.set()
        await settle(pilot)
        assert len(starts(port)) == 1
        assert len([did for did in port.did if did.startswith("check")]) == 1


async def test_a_fix_says_what_it_does_asks_and_checks_again() -> None:
    port, session = FakeLaunching(BLOCKED), Session(plan=PLAN)
    app = app_of(port, session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("f")
        await settle(pilot)
        assert isinstance(app.screen, Question)
        assert 'Set it to "0".' in app.screen._lines[0]
        await answer(pilot, app, "cancel")
        assert session.plan is PLAN
        await pilot.press("f")
        await settle(pilot)
        await answer(pilot, app, "do")
        assert session.plan is MENDED
        assert "Nothing blocks" in line(app)


async def test_r_checks_one_row_and_R_all() -> None:
    port = FakeLaunching()
    app = app_of(port, Session(plan=PLAN))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("j", "r")
        await settle(pilot)
        assert port.did[1:] == ["recheck engine gpu-a", "recheck engine gpu-b"]
        await pilot.press("R")
        await settle(pilot)
        assert port.did[-1] == f"check {PLAN.name} False"


async def test_ceilings_are_measured_after_a_question() -> None:
    port = FakeLaunching()
    app = app_of(port, Session(plan=PLAN))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("c")
        await settle(pilot)
        assert isinstance(app.screen, Question)
        assert "gpu-a, gpu-b" in app.screen._lines[0]
        await answer(pilot, app, "do")
        assert port.did[-1] == "measure"
        assert "Nothing blocks" in line(app)


async def test_y_copies_the_commands() -> None:
    around = Around()
    app = app_of(FakeLaunching(), Session(plan=PLAN), around=around)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("y")
        await settle(pilot)
    assert around.copied == [f"# {PLAN.name}\n"]


async def test_a_start_can_be_given_up_after_a_question() -> None:
    port = FakeLaunching()
    app = app_of(port, Session(plan=PLAN))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        await pilot.press("x")
        await settle(pilot)
        await answer(pilot, app, "cancel")
        assert port.taken_back == 0
        await pilot.press("x")
        await settle(pilot)
        await answer(pilot, app, "do")
        assert port.taken_back == 1
        assert "given up" in line(app)
        await pilot.press("enter")
        await settle(pilot)
        assert len(starts(port)) == 2


async def test_a_start_that_ends_while_one_asks_is_not_given_up() -> None:
    port, session = FakeLaunching(), Session(plan=PLAN)
    app = app_of(port, session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        await pilot.press("x")
        await settle(pilot)
        port.gate.set()
        await settle(pilot)
        await answer(pilot, app, "do")
        assert port.taken_back == 0
        assert session.run == RUN
        assert RUN in line(app)


async def test_the_run_under_way_is_named_and_can_be_stopped() -> None:
    port, session = FakeLaunching(), Session(plan=PLAN, live_run=RUN)
    app = app_of(port, session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        # Nobody asks its nodes behind its back.
        assert port.did == []
        assert RUN in line(app)
        await pilot.press("x")
        await settle(pilot)
        assert isinstance(app.screen, Question)
        assert app.screen._lines == (f"gpu-a: the engine of {RUN}",)
        await answer(pilot, app, "do")
        assert port.did == [f"stop {RUN}"]


async def test_before_a_second_run_everything_is_checked_anew() -> None:
    port, session = FakeLaunching(), Session(plan=PLAN)
    app = app_of(port, session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        session.live_run = RUN
        port.rows = BLOCKED
        await pilot.press("enter")
        await settle(pilot)
        assert len(port.did) == 2
        assert starts(port) == []


async def test_stop_without_anything_to_stop_says_so() -> None:
    app = app_of(FakeLaunching(), Session(plan=PLAN))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("x")
        await settle(pilot)
        assert any("Nothing is under way" in note.message for note in app._notifications)


async def test_a_start_that_fails_is_one_sentence_and_can_be_tried_again() -> None:
    port, session = FakeLaunching(), Session(plan=PLAN)
    port.error = RunFailed("The lab cannot be brought up.", "Free some disk.")
    port.gate.set()
    app = app_of(port, session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, Message)
        assert app.screen._text == "The lab cannot be brought up. Free some disk. (Details: kvtui.log)"
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(app.screen, LaunchScreen)
        assert session.plan is PLAN
        port.error = None
        await pilot.press("enter")
        await settle(pilot)
        assert app.current_mode == "live"


@pytest.mark.parametrize("start_now", [False, True])
async def test_read_only_checks_and_changes_nothing(start_now: bool) -> None:
    port = FakeLaunching(BLOCKED)
    app = app_of(port, Session(plan=PLAN, start_now=start_now), readonly=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("enter", "f", "c", "x")
        await settle(pilot)
        assert port.did == [f"check {PLAN.name} False"]
        assert isinstance(app.screen, LaunchScreen)


async def test_without_a_plan_it_takes_the_one_that_was_run_last() -> None:
    port, session = FakeLaunching(), Session()
    app = app_of(port, session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert (session.plan, session.plan_name) == (MENDED, "last")
        assert port.did == [f"check {MENDED.name} False"]
        assert "Press enter to run" in line(app)


def steps(app: KvtuiApp) -> list[str]:
    """The steps of the start, with their signs."""
    grid = app.screen.query_one("#sequence", Static).content
    assert isinstance(grid, Table)
    return [f"{sign} {text}" for sign, text in zip(*(column.cells for column in grid.columns), strict=True)]


@pytest.mark.parametrize("handing", [False, True])
async def test_a_start_says_which_step_it_is_at_for_how_long_and_what_it_does(handing: bool) -> None:
    port = FakeLaunching()
    port.handing = handing
    app = app_of(port, Session(plan=PLAN, on_lab=True, start_now=True))
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        said = steps(app)
        assert [line[0] for line in said] == (list("✓✓◐·") if handing else list("✓◐··"))
        under_way = next(line for line in said if line.startswith("◐"))
        assert "  0 s  " in under_way
        assert handing or "vllm (2 of 4): 100 MB fetched" in under_way


async def test_a_key_that_read_only_takes_away_says_so() -> None:
    app = app_of(FakeLaunching(), Session(plan=PLAN), readonly=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("x")
        await settle(pilot)
        assert [note.message for note in app._notifications] == [
            "Read-only: Stop is off. Start kvtui without --readonly for it."
        ]


@pytest.mark.parametrize("columns", [60, 80])
async def test_keys_at_the_bottom_are_whole_and_the_first_of_them_stay(columns: int) -> None:
    app = app_of(FakeLaunching(), Session(plan=PLAN))
    async with app.run_test(size=(columns, 16)) as pilot:
        await settle(pilot)
        keys = [key for key in app.screen.query(FooterKey) if key.display]
        assert keys[0].description == "Run"
        assert "Help" in {key.description for key in keys}
        assert max(key.region.right for key in keys) <= columns
        assert all(key.region.width >= len(key.description) for key in keys)


async def test_another_plan_is_checked_when_one_comes_back() -> None:
    port, session = FakeLaunching(), Session(plan=PLAN)
    app = app_of(port, session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("4")
        await pilot.press("3")
        await settle(pilot)
        assert len(port.did) == 1
        session.plan = MENDED
        await pilot.press("4")
        await pilot.press("3")
        await settle(pilot)
        assert len(port.did) == 2


SIZES = [(80, 24), (120, 36), (200, 50)]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_looks_with_a_failed_check(snap_compare: Any, size: tuple[int, int]) -> None:
    app = app_of(FakeLaunching(MIXED), Session(plan=PLAN))
    assert snap_compare(app, terminal_size=size, run_before=settle)


def test_looks_without_colour(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = app_of(FakeLaunching(MIXED), Session(plan=PLAN))
    assert snap_compare(app, terminal_size=(80, 24), run_before=settle)


def test_looks_while_it_starts(snap_compare: Any) -> None:
    app = app_of(FakeLaunching(), Session(plan=PLAN, on_lab=True, start_now=True))
    assert snap_compare(app, terminal_size=(120, 36), run_before=settle)
