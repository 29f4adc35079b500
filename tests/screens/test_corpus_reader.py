"""The screen that reads the documents of a plan."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from textual.containers import Vertical
from textual.geometry import Region
from textual.pilot import Pilot
from textual.widgets import DataTable, Static

from kvtui.app import KvtuiApp
from kvtui.errors import PlanError
from kvtui.plan import Plan, load_plan
from kvtui.recordings import PLANS
from screens.base import KvtuiScreen
from screens.modals.corpus_reader import CorpusReader
from screens.modals.help import Help
from screens.ports.documents import Documents
from screens.session import Session
from screens.widgets.document_page import MOST_CHARACTERS, DocumentPage
from screens.widgets.filter_table import FilterTable
from tests.screens.apps import Around, make_app
from tests.screens.documents_port import FakeDocuments

HOSTILE = "\x1b[2J\x1b]0;evil\x07 [bold]markup[/bold] \u202egnorw\u202c\ttab " + "x" * 5000
SIZES = [(80, 24), (120, 36), (200, 50)]


def a_plan(documents: int = 8, **corpus: Any) -> Plan:
    """A plan of some documents of 1,000 tokens."""
    seed = load_plan(PLANS / "seed.toml")
    update = {"documents": documents, "tokens": 1000, **corpus}
    return seed.model_copy(update={"corpus": seed.corpus.model_copy(update=update)})


class Behind(KvtuiScreen):
    """The screen that the reader was opened from."""

    MODE = "plan"

    def __init__(self, session: Session, documents: Documents, plan: Plan) -> None:
        super().__init__(session)
        self._reader = CorpusReader(session, documents, plan)

    def compose_body(self) -> list[Static]:
        """Nothing."""
        return [Static("the plan")]

    def on_mount(self) -> None:
        """Open the reader."""
        self.app.push_screen(self._reader)


def app_with(documents: Documents, plan: Plan | None = None, around: Around | None = None) -> KvtuiApp:
    """The app with the reader in front."""
    plan = plan or a_plan()
    return make_app({"plan": lambda session: Behind(session, documents, plan)}, around=around)


async def settled(pilot: Pilot[Any]) -> None:
    """Wait until all is read and drawn."""
    for _ in range(3):
        await pilot.pause()
        await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def until(pilot: Pilot[Any], true: Callable[[], bool]) -> None:
    """Wait for something, for ten seconds at most."""
    for _ in range(1000):
        if true():
            return
        await pilot.pause(0.01)
    raise AssertionError("It did not happen.")


def shown(app: KvtuiApp) -> str:
    """The visible lines of the page."""
    page = app.screen.query_one(DocumentPage)
    return "\n".join(page.render_line(y).text.rstrip() for y in range(page.size.height))


def facts(app: KvtuiApp) -> str:
    """What is said of the document."""
    drawn = app.screen.query_one("#facts", Static)
    lines = drawn.render_lines(Region(0, 0, drawn.size.width, drawn.size.height))
    return "\n".join(line.text.rstrip() for line in lines)


def table(app: KvtuiApp) -> DataTable[Any]:
    """The list."""
    return app.screen.query_one(DataTable)


async def test_the_list_has_figures_and_its_border_the_totals() -> None:
    app = app_with(FakeDocuments())
    async with app.run_test(size=(200, 50)) as pilot:
        await settled(pilot)
        row = [str(cell) for cell in table(app).get_row_at(1)]
        assert row[:3] == ["2", "medical", "discharge-summary"]
        assert row[4:] == ["1,000", "3", "42.0", "Discharge summary A1"]
        border = str(app.screen.query_one("#list-panel", Vertical).border_subtitle)
        assert border == "8 documents · 8,000 tokens · 24 chunks · working set 0.3 GiB"


async def test_n_and_p_read_the_documents_one_by_one() -> None:
    documents = FakeDocuments()
    app = app_with(documents)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        assert "Lease of the east wing no. 1" in shown(app)
        await pilot.press("tab", "n")
        await settled(pilot)
        assert "Discharge summary A1 no. 2" in shown(app)
        await pilot.press("p", "p")
        await settled(pilot)
        assert "Lease of the east wing no. 1" in shown(app)
        assert documents.read_places == [0, 1, 0]


async def test_running_down_the_list_reads_only_where_it_ends() -> None:
    documents = FakeDocuments()
    app = app_with(documents, a_plan(40))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("G")
        await settled(pilot)
        assert documents.read_places == [0, 39]


async def test_the_text_scrolls_with_vims_keys() -> None:
    app = app_with(FakeDocuments())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("enter")
        page = app.screen.query_one(DocumentPage)
        await until(pilot, lambda: page.has_focus)
        await pilot.press("j", "j")
        await until(pilot, lambda: page.scroll_y == 2)
        await pilot.press("k")
        await until(pilot, lambda: page.scroll_y == 1)
        await pilot.press("G")
        await until(pilot, lambda: page.scroll_y == page.max_scroll_y > 10)
        assert "40. The Tenant" in shown(app)
        await pilot.press("g")
        await until(pilot, lambda: page.scroll_y == 0)


async def test_borders_are_shown_once_a_run_has_asked_and_the_rest_is_not_sent() -> None:
    app = app_with(FakeDocuments(asked=True), a_plan(prefix_tokens=300))
    async with app.run_test(size=(120, 60)) as pilot:
        await settled(pilot)
        text = shown(app)
        assert text.count("┃") == 4
        # The first chunk is all prefix; the text begins in the second.
        assert text.startswith("2 Lease")
        assert "── 1,300 tokens end here; the rest is not sent ─" in text
        assert "the first 1,000 sent" in facts(app)
        assert "borders" not in facts(app)
        await pilot.press("t")
        await settled(pilot)
        assert shown(app).startswith("1 0 1 2 3 4 5")
        await pilot.press("t")
        await settled(pilot)
        assert "Lease" in shown(app)


async def test_before_any_run_the_borders_are_said_to_be_unknown() -> None:
    app = app_with(FakeDocuments())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        assert "┃" not in shown(app)
        assert "borders  – Nobody asked an engine." in facts(app)
        await pilot.press("t")
        await settled(pilot)
        assert not app.screen.query_one(DocumentPage).display
        assert "Nobody asked an engine." in str(app.screen.query_one("#why", Static).render())


async def test_a_hostile_document_is_only_text() -> None:
    documents = FakeDocuments({0: HOSTILE, 1: "word " * MOST_CHARACTERS})
    documents.titles[0] = "[red]b\x1b[2J\u202e.md"
    around = Around()
    app = app_with(documents, around=around)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        assert shown(app).startswith("␛[2J␛]0;evil␇ [bold]markup[/bold] ·gnorw· tab")
        assert str(table(app).get_row_at(0)[-1]) == "[red]b.md"
        assert "[red]b.md" in str(app.screen.query_one("#page-panel", Vertical).border_title)
        drawn = app.export_screenshot()
        assert "\x1b" not in drawn
        assert "\u202e" not in drawn
        await pilot.press("y")
        assert around.copied == [HOSTILE]
        await pilot.press("n", "enter", "G")
        await settled(pilot)
        page = app.screen.query_one(DocumentPage)
        await until(pilot, lambda: page.scroll_y == page.max_scroll_y)
        assert "characters more" in shown(app)


async def test_the_filter_finds_and_escape_leaves_it_before_the_screen() -> None:
    app = app_with(FakeDocuments())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("slash", *"share")
        await settled(pilot)
        assert table(app).row_count == 2
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(app.screen, CorpusReader)
        assert table(app).row_count == 8
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(app.screen, Behind)


async def test_the_modes_own_key_goes_back_to_it() -> None:
    app = app_with(FakeDocuments())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("2")
        await settled(pilot)
        assert isinstance(app.screen, Behind)


async def test_while_documents_are_written_it_says_so_and_escape_stops_it() -> None:
    documents = FakeDocuments()
    documents.going = asyncio.Event()
    app = app_with(documents)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, CorpusReader) and app.screen.is_mounted)
        said = app.screen.query_one(FilterTable).query_one("#empty", Static)
        await until(pilot, lambda: "Writing documents … 1 of 8" in str(said.render()))
        assert not documents.stopped
        await pilot.press("escape")
        await until(pilot, lambda: documents.stopped)
        assert isinstance(app.screen, Behind)


async def test_documents_that_are_not_there_are_a_sentence() -> None:
    documents = FakeDocuments()
    documents.fault = PlanError("There is no folder [red]\x1b[2J/own.", "Check the path.")
    app = app_with(documents)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        said = app.screen.query_one("#empty", Static)
        assert str(said.render()) == "There is no folder [red]/own. Check the path."
        assert isinstance(app.screen, CorpusReader)
        await pilot.press("n", "t", "y", "enter")
        await settled(pilot)
        assert isinstance(app.screen, CorpusReader)


async def test_help_tells_of_the_signs() -> None:
    app = app_with(FakeDocuments())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("question_mark")
        await settled(pilot)
        assert isinstance(app.screen, Help)


@pytest.mark.parametrize(("columns", "rows"), SIZES)
@pytest.mark.parametrize("state", ["asked", "hostile", "writing"])
def test_snapshot(snap_compare: Any, columns: int, rows: int, state: str) -> None:
    documents = FakeDocuments({0: HOSTILE} if state == "hostile" else None, asked=state == "asked")
    if state == "writing":
        documents.going = asyncio.Event()
    else:
        documents.notes = ("d.txt: It has 5 bytes, too few for 1,000 tokens. Left out.",)

    async def ready(pilot: Pilot[Any]) -> None:
        if state == "writing":
            await until(pilot, lambda: isinstance(pilot.app.screen, CorpusReader))
            await pilot.pause()
            return
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)

    app = app_with(documents, a_plan(prefix_tokens=300))
    assert snap_compare(app, terminal_size=(columns, rows), run_before=ready)


def test_snapshot_without_colour(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = app_with(FakeDocuments(asked=True))
    assert snap_compare(app, terminal_size=(80, 24), run_before=settled)
