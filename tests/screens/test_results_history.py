"""Results and History, over the recorded run that comes with kvtui."""

from __future__ import annotations

import io
import time
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console
from textual.widgets import DataTable, Static

from kvtui.document_rows import document_rows
from kvtui.errors import RecordError
from kvtui.journal import read_events
from kvtui.plan import Plan
from kvtui.recordings import RECORDED
from kvtui.results import result_of
from kvtui.run_result import RunResult
from kvtui.samples import samples_of
from kvtui.services.run_list import RunSummary
from screens.history import HistoryScreen
from screens.modals.documents import DocumentsDialog
from screens.modals.message import Message
from screens.modals.question import Question
from screens.results import ResultsScreen
from screens.session import Session
from tests.screens.apps import make_app

RUN = "261129-120000-abcd"
BASE = RunSummary(RUN, "lab", 1_764_417_600.0, ("gpu-a", "gpu-b"), "done", "", "valkey 9.1× 8/8", 2_500_000)
SUMMARIES = (
    BASE,
    replace(BASE, run="261128-110000-beef", state="failed", reason="[bold]No \x1b[2Jroom.", headline=""),
    replace(BASE, run="261127-100000-cafe", state="cut off", plan="seed", when_wall_s=None),
)


def shown(app: Any) -> str:
    """The evidence below the table, as text."""
    out = io.StringIO()
    Console(width=200, file=out).print(app.screen.query_one("#request", Static).content)
    return out.getvalue()


def recorded() -> RunResult:
    """The recorded run."""
    plan = Plan.model_validate_json((RECORDED / "plan.json").read_text("utf-8"))
    events = read_events(RECORDED / "events.jsonl")
    return RunResult(result_of(RUN, plan, events), plan, samples_of(events))


class FakeRuns:
    """Three runs; the first one has results."""

    def __init__(self, *summaries: RunSummary) -> None:
        self.list = list(summaries)
        self.fault: RecordError | None = None
        self.attached: list[str] = []

    async def all(self) -> tuple[RunSummary, ...]:
        """All of them."""
        return tuple(self.list)

    async def result(self, run: str | None) -> RunResult | None:
        """The recorded one."""
        if self.fault:
            raise self.fault
        return recorded() if self.list else None

    async def delete(self, run: str) -> None:
        """Forget one."""
        self.list = [summary for summary in self.list if summary.run != run]

    async def attach(self, run: str) -> None:
        """Remember it."""
        self.attached.append(run)

    def where(self, run: str) -> str:
        """A path."""
        return f"~/runs/{run}"


def app_with(runs: FakeRuns, first: str, session: Session | None = None) -> Any:
    """The app with both screens."""
    modes = {
        "results": lambda session: ResultsScreen(session, runs),
        "history": lambda session: HistoryScreen(session, runs, time.gmtime),
    }
    return make_app(modes, session, first=first)


async def settle(pilot: Any) -> None:
    """Wait until all is drawn."""
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def test_the_screen_says_the_same_as_the_tables() -> None:
    app = app_with(FakeRuns(*SUMMARIES), "results")
    async with app.run_test(size=(160, 50)) as pilot:
        await settle(pilot)
        table = app.screen.query_one(DataTable)
        rows = [[str(cell) for cell in table.get_row_at(index)] for index in range(table.row_count)]
        assert len(rows) == len(recorded().result.rows)
        assert rows[2][:2] == ["single", "dram-small"]
        assert rows[2][6] == "0/8"


async def test_documents_open_with_their_evidence() -> None:
    app = app_with(FakeRuns(*SUMMARIES), "results")
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("j", "enter")
        await settle(pilot)
        assert isinstance(app.screen, DocumentsDialog)
        table = app.screen.query_one(DataTable)
        assert table.row_count == 8
        assert [str(cell) for cell in table.get_row_at(0)][6] == "full"
        await pilot.press("escape")
        await pilot.pause()
        assert app.current_mode == "results"
        assert len(app.screen_stack) == 1


async def test_a_document_says_by_which_bytes_it_was_served() -> None:
    counts: dict[str, object] = {
        "moved": {"store_rx_bytes": 16_908_416},
        "retrieved_bytes": 16_908_288,
        "served_by": "valkey",
        "served_words": "1.00 of the bytes arrived over the network",
    }
    rows = document_rows(recorded().samples, "valkey", "single")
    assert rows[0].cached is not None
    known = replace(rows[0].cached, evidence=rows[0].cached.evidence | counts)
    app = app_with(FakeRuns(*SUMMARIES), "results")
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        app.push_screen(DocumentsDialog("valkey", [replace(rows[0], cached=known), rows[1]]))
        await settle(pilot)
        assert "Served by valkey: 1.00 of the bytes arrived over the network." in shown(app)
        # A record of older days has no counts, and nothing is claimed.
        await pilot.press("j")
        await settle(pilot)
        assert "Served by" not in shown(app)


async def test_a_damaged_record_is_one_sentence() -> None:
    runs = FakeRuns(*SUMMARIES)
    runs.fault = RecordError("events.jsonl, line 3, is not JSON.", "The record was changed by hand.")
    app = app_with(runs, "results")
    async with app.run_test() as pilot:
        await settle(pilot)
        assert isinstance(app.screen, Message)


async def test_without_runs_both_screens_say_what_to_press() -> None:
    app = app_with(FakeRuns(), "results")
    async with app.run_test(size=(80, 24)) as pilot:
        for key in ("5", "6"):
            await pilot.press(key)
            await settle(pilot)
            empty = app.screen.query_one("#empty", Static)
            assert empty.display
            assert "1 and b for a run in the lab" in str(empty.render())


async def test_deleting_asks_first() -> None:
    runs = FakeRuns(*SUMMARIES)
    app = app_with(runs, "history", Session(run=RUN))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("d")
        await pilot.pause()
        assert isinstance(app.screen, Question)
        await pilot.press("escape")
        await pilot.pause()
        assert len(runs.list) == 3
        await pilot.press("d")
        await pilot.pause()
        await pilot.press("right", "enter")
        await settle(pilot)
        assert [summary.run for summary in runs.list] == ["261128-110000-beef", "261127-100000-cafe"]
        assert app.session.run is None


async def test_opening_a_run_shows_its_results() -> None:
    app = app_with(FakeRuns(*SUMMARIES), "history")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("j", "enter")
        await settle(pilot)
        assert app.session.run == "261128-110000-beef"
        assert app.current_mode == "results"


async def test_only_a_run_that_was_cut_off_is_carried_on() -> None:
    runs = FakeRuns(*SUMMARIES)
    app = app_with(runs, "history")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("a")
        await settle(pilot)
        assert runs.attached == []
        await pilot.press("j", "j", "a")
        await settle(pilot)
        assert runs.attached == ["261127-100000-cafe"]


def test_documents_of_a_shared_cold_pass_stand_beside_the_fleets_cached_one() -> None:
    found = recorded()
    rows = document_rows(found.samples, "valkey", "fleet")
    assert [row.place for row in rows] == list(range(1, 9))
    assert all(row.cold and row.cached and row.cold.node != row.cached.node for row in rows)
    assert document_rows(found.samples, "no-such", "single") == ()


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 36), (200, 50)])
@pytest.mark.parametrize("mode", ["results", "history"])
def test_snapshot(snap_compare: Any, columns: int, rows: int, mode: str) -> None:
    app = app_with(FakeRuns(*SUMMARIES), mode)
    assert snap_compare(app, terminal_size=(columns, rows), run_before=settle)


def test_snapshot_without_colour(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = app_with(FakeRuns(*SUMMARIES), "results")
    assert snap_compare(app, terminal_size=(80, 24), run_before=settle)
