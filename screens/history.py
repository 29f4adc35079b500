"""History: every run on this machine, to open, replay or delete."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Static

from kvtui.loglines import clean
from kvtui.services.run_list import RunSummary
from kvtui.units import DASH
from screens.background import in_background
from screens.base import KvtuiScreen, host
from screens.commands import Command, bindings
from screens.modals.question import confirm
from screens.ports.runs import Runs
from screens.session import Session
from screens.signs import sign_text
from screens.widgets.facts import facts_grid
from screens.widgets.filter_table import Column, FilterTable, TableRow

_COLUMNS = (
    Column("sign", ""),
    Column("when", "WHEN"),
    Column("plan", "PLAN"),
    Column("state", "STATE"),
    Column("headline", "BEST TIER"),
    Column("nodes", "NODES", least=100),
    Column("size", "SIZE", right=True, least=100),
    Column("run", "RUN", least=100),
)
_READING = "Reading the records of the runs."
_EMPTY = "No run yet. Press 1 and b for a run in the lab of this machine, or 2 to make a plan."
_SIGNS = {"done": "✓", "failed": "✗", "stopped": "■", "running": "◐", "cut off": "!", "unreadable": "?"}


def _when(summary: RunSummary, zone: Callable[[float], time.struct_time]) -> str:
    if summary.when_wall_s is None:
        return DASH
    return time.strftime("%Y-%m-%d %H:%M", zone(summary.when_wall_s))


class HistoryScreen(KvtuiScreen):
    """The table of runs."""

    MODE = "history"
    CSS_PATH = "history.tcss"
    ACTIONS: ClassVar[tuple[Command, ...]] = (
        Command("history.open", "enter", "Results", "Open the run's results.", "open_run"),
        Command("history.live", "w", "Watch", "Open the run in Live, as it stands.", "watch"),
        Command("history.replay", "v", "Replay", "See the run again in Live, from its events.", "replay"),
        Command("history.attach", "a", "Carry on", "Go on with a run cut off.", "attach", changes=True),
        Command("history.delete", "d", "Delete", "Remove the run's record.", "delete", changes=True),
        Command("history.copy", "y", "Copy path", "Copy the path of its record.", "copy_path", shown=False),
        Command("history.filter", "slash", "Filter", "Show only runs that match.", "filter", label="/"),
        Command("history.reload", "r", "Read again", "Look for new runs.", "reload", shown=False),
    )
    BINDINGS: ClassVar[list[BindingType]] = bindings(ACTIONS)

    def __init__(
        self, session: Session, runs: Runs, zone: Callable[[float], time.struct_time] = time.localtime
    ) -> None:
        super().__init__(session)
        self._runs = runs
        self._zone = zone
        self._list: tuple[RunSummary, ...] = ()

    def compose_body(self) -> Iterable[Widget]:
        """All runs, and the one under the cursor."""
        runs = Vertical(FilterTable(_COLUMNS, _READING, id="runs"), id="runs-panel", classes="panel")
        runs.border_title = "Runs"
        return [runs, Vertical(Static(id="run"), id="run-panel", classes="panel")]

    def on_screen_resume(self) -> None:
        """Runs may have come."""
        self.action_reload()

    def on_resize(self, event: events.Resize) -> None:
        """A narrow terminal gets fewer columns."""
        super().on_resize(event)
        self.query_one(FilterTable).set_width(event.size.width)

    def action_reload(self) -> None:
        """Look for runs."""
        in_background(self, self._load, "load")

    async def _load(self) -> None:
        self._list = await self._runs.all()
        table = self.query_one(FilterTable)
        table.set_empty(_EMPTY)
        table.set_rows([self._row(summary) for summary in self._list])
        self.query_one("#runs-panel").border_title = f"Runs ({len(self._list)})"
        self.query_one("#run-panel").display = bool(self._list)
        self._draw_run()

    def _row(self, summary: RunSummary) -> TableRow:
        when = _when(summary, self._zone)
        size = f"{summary.size_bytes / 1e6:,.1f} MB"
        texts = (when, summary.plan, summary.state, summary.headline or DASH, ", ".join(summary.nodes))
        cells: tuple[str | Text, ...] = (
            sign_text(self.app, _SIGNS.get(summary.state, "·")),
            *(clean(text) for text in texts),
            size,
            summary.run,
        )
        order = ("", summary.when_wall_s or 0.0, *texts[1:], float(summary.size_bytes), summary.run)
        return TableRow(summary.run, cells, order)

    @property
    def _current(self) -> RunSummary | None:
        key = self.query_one(FilterTable).current
        return next((summary for summary in self._list if summary.run == key), None)

    @on(FilterTable.Moved)
    def _draw_run(self) -> None:
        summary = self._current
        if summary is None:
            return
        self.query_one("#run-panel").border_title = f"Run {summary.run}"
        lines = [("state", f"{summary.state}. {summary.reason}" if summary.reason else summary.state)]
        if summary.state == "cut off":
            lines.append(("go on", f"a, or kvtui attach {summary.run}"))
        lines += [
            ("best", summary.headline or "nothing was measured"),
            ("nodes", ", ".join(summary.nodes) or DASH),
            ("record", self._runs.where(summary.run)),
        ]
        self.query_one("#run", Static).update(facts_grid(self.app, lines))

    async def _go(self, mode: str, *, replay: bool = False) -> None:
        if (summary := self._current) is not None:
            self.session.run = summary.run
            self.session.replay = replay
            self.session.replays += replay
            await self.run_action(f"app.mode('{mode}')")

    @on(FilterTable.Chosen)
    async def action_open_run(self) -> None:
        """Open the results of the run under the cursor."""
        await self._go("results")

    async def action_watch(self) -> None:
        """Open it in Live."""
        await self._go("live")

    async def action_replay(self) -> None:
        """See it again."""
        await self._go("live", replay=True)

    def action_attach(self) -> None:
        """Have a process of its own carry the run on, and watch it."""
        summary = self._current
        if summary is None or summary.state != "cut off":
            return

        async def work() -> None:
            self.app.notify(f"Run {summary.run} is taken up again …", markup=False)
            await self._runs.attach(summary.run)
            await self._go("live")

        in_background(self, work, "attach")

    def action_delete(self) -> None:
        """Remove its record, after a question."""
        summary = self._current
        if summary is None:
            return

        async def work() -> None:
            lines = (
                f"The record of run {summary.run} ({summary.state}) is removed from this machine:",
                self._runs.where(summary.run),
                f"{summary.size_bytes / 1e6:,.1f} MB. It cannot be brought back.",
            )
            if await self.app.push_screen_wait(confirm("Delete a run", lines, "Delete")) == "do":
                await self._runs.delete(summary.run)
                if self.session.run == summary.run:
                    self.session.run = None
                await self._load()

        in_background(self, work, "delete")

    def action_copy_path(self) -> None:
        """Copy the path of its record."""
        if (summary := self._current) is not None:
            host(self.app).copy(self._runs.where(summary.run), "the record's path")

    def action_filter(self) -> None:
        """Show fewer rows."""
        self.query_one(FilterTable).start_filter()
