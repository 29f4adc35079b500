"""The app on the Plan screen, and what a test reads of it."""

from __future__ import annotations

from typing import Any

from textual.geometry import Region
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from kvtui.app import KvtuiApp
from kvtui.eta import in_words
from kvtui.plan import Plan
from screens.base import KvtuiScreen
from screens.plan import PlanScreen
from screens.session import Session
from screens.widgets.plan.controls import Control, TextField
from screens.widgets.plan.row import FaultLine, controls_of
from tests.screens.apps import Around, make_app
from tests.screens.documents_port import FakeDocuments
from tests.screens.plan_port import FakePlans


class Elsewhere(KvtuiScreen):
    """Launch, for these tests."""

    MODE = "launch"

    def compose_body(self) -> list[Static]:
        """Nothing."""
        return [Static("launch")]


def app_with(
    port: FakePlans, session: Session | None = None, *, readonly: bool = False, around: Around | None = None
) -> KvtuiApp:
    """The app on the Plan screen."""
    return make_app(
        {"plan": lambda session: PlanScreen(session, port, in_words, FakeDocuments()), "launch": Elsewhere},
        session,
        readonly=readonly,
        around=around,
    )


def on_seed(port: FakePlans) -> Session:
    """A session with the seed's plan."""
    return Session(plan=port.plan("seed"), plan_name="seed")


async def settled(pilot: Pilot[None]) -> PlanScreen:
    """The screen, once everything is reckoned."""
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()
    screen = pilot.app.screen_stack[0]
    assert isinstance(screen, PlanScreen)
    return screen


async def drawn(pilot: Pilot[None]) -> None:
    """A dialog that waits for an answer is drawn."""
    for _ in range(3):
        await pilot.pause()


def front(app: KvtuiApp) -> Screen[Any]:
    """The screen or dialog in front, whatever it was before."""
    return app.screen


def control(screen: PlanScreen, name: str) -> Control:
    """A control of the form."""
    return next(one for one in controls_of(screen) if one.field == name)


def field(screen: PlanScreen, name: str) -> TextField:
    """A field of the form."""
    found = control(screen, name)
    assert isinstance(found, TextField)
    return found


def plan_of(session: Session) -> Plan:
    """The session's plan."""
    assert session.plan is not None
    return session.plan


def faults(screen: PlanScreen) -> str:
    """What the form says is wrong."""
    return " ".join(line.text for line in screen.query(FaultLine) if line.display)


def text(screen: Screen[Any], selector: str) -> str:
    """What a part of the screen says, on one line."""
    shown = screen.query_one(selector, Static)
    lines = shown.render_lines(Region(0, 0, shown.size.width, shown.size.height))
    return " ".join(" ".join(line.text for line in lines).split())


def told(app: KvtuiApp) -> str:
    """What was told below."""
    return " ".join(f"{note.title} {note.message}" for note in app._notifications)
