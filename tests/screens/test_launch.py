"""The Launch screen, over made-up checks and a made-up start."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from rich.table import Table
from textual.pilot import Pilot
from textual.widgets import Button, Log, Static
from textual.widgets._footer import FooterKey

from kvtui.app import KvtuiApp
from kvtui.errors import RunFailed
from kvtui.findings import Finding, Level
from kvtui.plan import Plan
from kvtui.preflight import CheckRow, State
from screens.base import KvtuiScreen
from screens.launch import LaunchScreen
from screens.modals.message import Message
from screens.modals.question import Question
from screens.ports.launch import StartTeller, Told
from screens.session import Session
from screens.widgets.checks import CheckTable
from tests.kvtui.knowing import seed_plan
from tests.screens.apps import Around, make_app

RUN = "260101-000000-abcd"
PLAN = seed_plan()
MENDED = PLAN.model_copy(update={"notes": ("mended",)})
SEED = Finding(
    Level.BLOCKING,
    "hash-seed-differs",
    "The nodes cannot share: PYTHONHASHSEED is gpu-a 0, gpu-b unset.",
    'Set one number for every node: seed = "0" below [hash], and no seed_on.',
    "fleet",
)
DISK = Finding(
    Level.WARNING,
    "disk-free",
    "/mnt/kv has 900.0 GiB free; the run writes 800.0 GiB, and 1.2 times as much should be free.",
    "Free some, or name another path.",
    "gpu-b",
)
GOOD = (
    CheckRow("ssh", "ssh, clock within 50 ms", "gpu-a", State.OK, "2 ms"),
    CheckRow("ssh", "ssh, clock within 50 ms", "gpu-b", State.OK, "5 ms"),
    CheckRow("engine", "vLLM, LMCache", "gpu-a", State.OK, "0.28.0, 0.5.4"),
    CheckRow("engine", "vLLM, LMCache", "gpu-b", State.OK, "0.28.0, 0.5.4"),
    CheckRow("gpu-memory", "GPU memory free", "gpu-a", State.OK, "138 of 141 GiB"),
    CheckRow("gpu-memory", "GPU memory free", "gpu-b", State.OK, "140 of 141 GiB"),
    CheckRow("model", "model, config equal", "gpu-a", State.OK, "a91c02ef…"),
    CheckRow("model", "model, config equal", "gpu-b", State.OK, "a91c02ef…"),
    CheckRow("sharing", "seed, hash: keys shared", "", State.OK, "seed 0, sha256_cbor"),
    CheckRow(
        "ceilings", "ceilings measured", "gpu-a", State.UNKNOWN, "not: disk, net", None, "Measure them."
    ),
    CheckRow(
        "ceilings", "ceilings measured", "gpu-b", State.UNKNOWN, "not: disk, net", None, "Measure them."
    ),
)
BLOCKED = tuple(
    replace(row, state=State.FAILED, measured="seed 0 against unset", finding=SEED, fix='Set it to "0".')
    if row.id == "sharing"
    else row
    for row in GOOD
)
MIXED = (
    *BLOCKED,
    CheckRow("disk:disk", "disk: free ≥ 1.2 × plan", "gpu-a", State.OK, "6.1 TiB ≥ 960 GiB"),
    CheckRow("disk:disk", "disk: free ≥ 1.2 × plan", "gpu-b", State.WARNING, "900 GiB < 960 GiB", DISK),
    CheckRow("ports", "free ports", "gpu-a", State.OK, "25800, 26100"),
    CheckRow("ports", "free ports", "gpu-b", State.RUNNING, "checking…"),
    CheckRow("value", "store: one chunk and back", "gpu-a", State.WAITING, "waiting"),
    CheckRow("value", "store: one chunk and back", "gpu-b", State.WAITING, "waiting"),
)


class FakeLaunching:
    """Answers with the rows that it has, and starts as the test lets it."""

    def __init__(self, rows: tuple[CheckRow, ...] = GOOD) -> None:
        self.rows = rows
        self.did: list[str] = []
        self.taken_back = 0
        self.checking = asyncio.Event()
        self.checking.set()
        self.gate = asyncio.Event()
        self.handing = False
        self.error: Exception | None = None

    async def check(self, plan: Plan, *, on_lab: bool, told: Told) -> tuple[CheckRow, ...]:
        """Give the rows."""
        self.did.append(f"check {plan.name} {on_lab}")
        told(tuple(replace(row, state=State.RUNNING, measured="checking…", fix="") for row in self.rows))
        await self.checking.wait()
        told(self.rows)
        return self.rows

    async def recheck(self, row: CheckRow, told: Told) -> tuple[CheckRow, ...]:
        """Remember which."""
        self.did.append(f"recheck {row.id} {row.node}")
        told(self.rows)
        return self.rows

    def mended(self, row: CheckRow) -> Plan | None:
        """Another plan, with which all is well."""
        self.rows = GOOD
        return MENDED

    async def measure(self, said: Callable[[str], None], told: Told) -> None:
        """Remember it."""
        said("gpu-a: measuring disk")
        self.did.append("measure")

    def script(self, plan: Plan) -> str:
        """Some commands."""
        return f"# {plan.name}\n"

    def last_plan(self) -> tuple[str, Plan]:
        """The plan that was run last."""
        return "last", MENDED

    async def start(self, plan: Plan, *, on_lab: bool, teller: StartTeller) -> str:
        """Make a run."""
        self.did.append(f"start {plan.name} {on_lab}")
        teller.say("Installing the lab's engine environment [/x]\x1b[2J")
        teller.phase("vllm (2 of 4): 100 MB fetched")
        try:
            if self.handing:
                teller.handing_over()
            await self.gate.wait()
        except asyncio.CancelledError:
            self.taken_back += 1
            raise
        if self.error is not None:
            raise self.error
        return RUN

    def what_stops(self, run: str) -> tuple[str, ...]:
        """What would end."""
        return (f"gpu-a: the engine of {run}",)

    async def stop(self, run: str) -> None:
        """Remember it."""
        self.did.append(f"stop {run}")


class FakeLive(KvtuiScreen):
    """Where a started run is shown."""

    MODE = "live"

    def compose_body(self) -> list[Static]:
        """Nothing much."""
        return [Static("live")]


def app_of(
    port: FakeLaunching, session: Session, *, readonly: bool = False, around: Around | None = None
) -> KvtuiApp:
    """The app on Launch."""
    modes = {"launch": lambda session: LaunchScreen(session, port, lambda: 0.0), "live": FakeLive}
    return make_app(modes, session, readonly=readonly, around=around)


def line(app: KvtuiApp) -> str:
    """The line at the bottom."""
    return str(app.screen.query_one("#line", Static).render())


def starts(port: FakeLaunching) -> list[str]:
    """The starts so far."""
    return [did for did in port.did if did.startswith("start")]


async def settle(pilot: Pilot[None]) -> None:
    """Let background work come to its next wait."""
    for _ in range(6):
        await pilot.pause()


async def answer(pilot: Pilot[None], app: KvtuiApp, id_: str) -> None:
    """Answer the question in front."""
    assert isinstance(app.screen, Question)
    app.screen.query_one(f"#{id_}", Button).press()
    await settle(pilot)


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
