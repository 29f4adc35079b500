"""The app on the Plan screen, and what a test reads of it."""

from __future__ import annotations

from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from kvtui.app import KvtuiApp
from kvtui.eta import in_words
from kvtui.plan import Plan
from screens.base import KvtuiScreen
from screens.plan import PlanScreen
from screens.session import Session
from screens.widgets.plan.editor import FieldEditor
from screens.widgets.plan.form import PlanForm
from screens.widgets.plan.form_lines import FormLines
from screens.widgets.text_panel import TextPanel
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


def go_to(screen: PlanScreen, name: str) -> None:
    """Put the form's cursor on a control."""
    screen.query_one(PlanForm).go_to(name)


def field(screen: PlanScreen, name: str) -> FieldEditor:
    """A field of the form, the cursor in it."""
    go_to(screen, name)
    editor = screen.query_one(FieldEditor)
    assert editor.part is not None
    assert editor.part.name == name
    return editor


async def click(pilot: Pilot[None], screen: PlanScreen, name: str) -> None:
    """Click a control of the form."""
    lines = screen.query_one(FormLines)
    lines.bring(name)
    await pilot.pause()
    place = lines.place_of(name)
    assert place is not None
    at, span = place
    assert await pilot.click(FormLines, offset=(span.x + 1, at - lines.scroll_offset.y))


def form_text(screen: PlanScreen) -> str:
    """What the form says, on one line."""
    return " ".join(" ".join(span.text for span in spans) for spans in screen.query_one(FormLines).lines)


def plan_of(session: Session) -> Plan:
    """The session's plan."""
    assert session.plan is not None
    return session.plan


def faults(screen: PlanScreen) -> str:
    """What the form says is wrong."""
    lines = screen.query_one(FormLines).lines
    return " ".join(span.text for spans in lines for span in spans if span.style == "wrong" and not span.part)


def text(screen: PlanScreen, name: str) -> str:
    """What a panel says, on one line."""
    return " ".join(screen.query_one(f"#{name}-panel", TextPanel).plain.split())


def told(app: KvtuiApp) -> str:
    """What was told below."""
    return " ".join(f"{note.title} {note.message}" for note in app._notifications)
