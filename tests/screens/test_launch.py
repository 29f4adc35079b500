"""The Launch screen, over a made-up start."""

from __future__ import annotations

import asyncio

import pytest
from textual.pilot import Pilot
from textual.widgets import Log, Static

from kvtui.app import KvtuiApp
from kvtui.errors import RunFailed
from kvtui.plan import Plan, load_plan
from kvtui.recordings import DEFAULT_PLAN
from screens.base import KvtuiScreen
from screens.launch import LaunchScreen
from screens.modals.message import Message
from screens.ports.launch import Teller
from screens.session import Session
from tests.screens.apps import make_app

RUN = "260101-000000-abcd"
PLAN = load_plan(DEFAULT_PLAN)


class FakeLaunching:
    """Says two things, waits for a gate, and gives a run's id."""

    def __init__(self) -> None:
        self.started: list[tuple[str, bool]] = []
        self.taken_back = 0
        self.gate = asyncio.Event()
        self.error: Exception | None = None

    async def start(self, plan: Plan, *, on_lab: bool, teller: Teller) -> str:
        """Make a run."""
        self.started.append((plan.name, on_lab))
        teller.say("Installing the lab's engine environment [/x]\x1b[2J")
        teller.phase("vllm (2 of 4): 100 MB fetched")
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.taken_back += 1
            raise
        if self.error is not None:
            raise self.error
        return RUN


class FakeLive(KvtuiScreen):
    """Where a started run is shown."""

    MODE = "live"

    def compose_body(self) -> list[Static]:
        """Nothing much."""
        return [Static("live")]


def app_of(port: FakeLaunching, session: Session, *, readonly: bool = False) -> KvtuiApp:
    """The app on Launch."""
    modes = {"launch": lambda session: LaunchScreen(session, port), "live": FakeLive}
    return make_app(modes, session, readonly=readonly)


def line(app: KvtuiApp) -> str:
    """The line at the bottom."""
    return str(app.screen.query_one("#line", Static).render())


async def settle(pilot: Pilot[None]) -> None:
    """Let background work come to its next wait."""
    for _ in range(4):
        await pilot.pause()


async def test_enter_starts_the_plan_and_live_shows_it() -> None:
    port, session = FakeLaunching(), Session(plan=PLAN, on_lab=True)
    app = app_of(port, session)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert port.started == []
        await pilot.press("enter")
        await settle(pilot)
        assert port.started == [(PLAN.name, True)]
        assert line(app) == "vllm (2 of 4): 100 MB fetched"
        said = app.screen.query_one("#said", Log)
        assert said.lines[0] == "Installing the lab's engine environment [/x]"
        await pilot.press("enter")
        assert len(port.started) == 1
        port.gate.set()
        await settle(pilot)
        assert app.current_mode == "live"
        assert session.run == RUN


async def test_a_plan_to_be_started_at_once_is() -> None:
    port, session = FakeLaunching(), Session(plan=PLAN, start_now=True)
    app = app_of(port, session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert port.started == [(PLAN.name, False)]
        assert not session.start_now
        port.gate.set()
        await settle(pilot)
        assert app.current_mode == "live"


async def test_a_start_can_be_given_up() -> None:
    port, session = FakeLaunching(), Session(plan=PLAN)
    app = app_of(port, session)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        await settle(pilot)
        await pilot.press("x")
        await settle(pilot)
        assert port.taken_back == 1
        assert "given up" in line(app)
        await pilot.press("enter")
        await settle(pilot)
        assert len(port.started) == 2


async def test_a_start_that_fails_is_one_sentence_and_can_be_tried_again() -> None:
    port, session = FakeLaunching(), Session(plan=PLAN)
    port.error = RunFailed("The lab cannot be brought up.", "Free some disk.")
    port.gate.set()
    app = app_of(port, session)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, Message)
        assert app.screen._text == "The lab cannot be brought up. Free some disk. (Details: kvtui.log)"
        await pilot.press("escape")
        assert isinstance(app.screen, LaunchScreen)
        assert session.plan is PLAN
        port.error = None
        await pilot.press("enter")
        await settle(pilot)
        assert app.current_mode == "live"


@pytest.mark.parametrize("start_now", [False, True])
async def test_read_only_starts_nothing(start_now: bool) -> None:
    port = FakeLaunching()
    app = app_of(port, Session(plan=PLAN, start_now=start_now), readonly=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        await settle(pilot)
        assert port.started == []


async def test_without_a_plan_it_says_where_to_get_one() -> None:
    port = FakeLaunching()
    app = app_of(port, Session())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        await settle(pilot)
        assert port.started == []
        assert "Press 2" in str(app.screen.query_one("#plan", Static).render())
