"""The Plan screen, over made-up plans and nodes."""

from __future__ import annotations

from textual.pilot import Pilot

from kvtui.app import KvtuiApp
from kvtui.eta import in_words
from screens.modals.corpus_reader import CorpusReader
from screens.plan import PlanScreen
from screens.session import Session
from screens.widgets.plan.controls import TextField
from tests.screens.apps import Around, make_app
from tests.screens.documents_port import FakeDocuments
from tests.screens.plan_port import FakePlans


def app_with(
    port: FakePlans, session: Session | None = None, *, readonly: bool = False, around: Around | None = None
) -> KvtuiApp:
    """The app on the Plan screen."""
    return make_app(
        {"plan": lambda session: PlanScreen(session, port, in_words, FakeDocuments())},
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


def field(screen: PlanScreen, name: str) -> TextField:
    """A field of the form."""
    return next(one for one in screen.query(TextField) if one.field == name)


async def test_what_is_typed_is_the_plan_at_once() -> None:
    port = FakePlans()
    session = on_seed(port)
    app = app_with(port, session)
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await settled(pilot)
        field(screen, "corpus.documents").focus()
        await pilot.press("end", "backspace")
        await settled(pilot)
        assert session.plan is not None
        assert session.plan.corpus.documents == 3
        await pilot.press("x")
        await settled(pilot)
        assert session.plan.corpus.documents == 3
        assert field(screen, "corpus.documents").has_class("-invalid")


async def test_without_a_plan_it_begins_with_the_lab_and_says_so() -> None:
    session = Session()
    app = app_with(FakePlans(), session)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await settled(pilot)
        assert session.plan is not None
        assert session.plan.lab
        assert "comes with kvtui" in str(screen.query_one("#form-panel").border_subtitle)


async def test_d_reads_the_documents_of_the_plan_and_escape_comes_back() -> None:
    port = FakePlans()
    app = app_with(port, on_seed(port))
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await settled(pilot)
        await pilot.press("d")
        await settled(pilot)
        reader = app.screen_stack[-1]
        assert isinstance(reader, CorpusReader)
        assert str(reader.query_one("#list-panel").border_subtitle).startswith("30 documents")
        await pilot.press("escape")
        await settled(pilot)
        assert app.screen_stack == [screen]
