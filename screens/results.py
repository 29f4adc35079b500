"""Results: a row a tier and topology, the tier under the cursor in full, the run's findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from kvtui.document_rows import document_rows
from kvtui.loglines import clean
from kvtui.result_words import (
    answer_lines,
    economics_lines,
    economics_of,
    interval,
    milliseconds,
    pairs_of,
    percentile_lines,
    ratio,
    repeat_lines,
    why_none,
)
from kvtui.results import Result, Row
from kvtui.run_result import RunResult
from kvtui.tables import cells, result_text
from kvtui.units import DASH
from screens.background import in_background
from screens.base import KvtuiScreen, host
from screens.commands import Command, bindings
from screens.modals.documents import DocumentsDialog
from screens.ports.runs import Runs
from screens.session import Session
from screens.widgets.facts import facts_grid
from screens.widgets.filter_table import Column, FilterTable, TableRow
from screens.widgets.findings import findings_grid

_COLUMNS = (
    Column("topology", "TOPOLOGY"),
    Column("tier", "TIER"),
    Column("cold", "COLD ms", right=True),
    Column("cached", "CACHED ms", right=True),
    Column("speedup", "SPEEDUP", right=True),
    Column("worst", "WORST DOCUMENT", least=140),
    Column("reuse", "REUSE", right=True),
    Column("kv", "KV", right=True, least=100),
    Column("throughput", "THROUGHPUT", right=True, least=100),
)
_EMPTY = "No results yet. Press 2 to make a plan, or 1 and b for a run in the lab of this machine."


def _key(row: Row) -> str:
    return f"{row.topology}/{row.tier}"


def _order(row: Row) -> tuple[str | float, ...]:
    def figure(value: float | None) -> float:
        return -1.0 if value is None else value

    return (
        row.topology,
        row.tier,
        figure(row.cold_ms),
        figure(row.cached_ms),
        figure(row.speedup),
        figure(row.worst_speedup),
        float(row.reused),
        figure(row.reused_bytes),
        figure(row.throughput_bytes_s),
    )


def _sure(row: Row) -> str:
    """The speedup's interval with its level, Hodges–Lehmann's estimate, and the time that is saved."""
    if row.ratio is None:
        return DASH
    words = f"{interval(row.ratio, ratio, why_none(row))}, H–L {ratio(row.ratio.hodges_lehmann)}"
    if row.saved_ms is None:
        return words
    saved = interval(row.saved_ms, milliseconds, why_none(row))
    return f"{words}; {milliseconds(row.saved_ms.median)} ms saved, {saved}"


def _worth(result: Result, row: Row) -> Iterator[tuple[str, str]]:
    """Its repeats, whether its KV is right, slowest requests, price and gain, and its rank by tier."""
    yield from repeat_lines(row)
    yield from answer_lines(row)
    yield from percentile_lines(row)
    found = economics_of(result, row)
    if found is not None:
        yield from economics_lines(found)
    yield from pairs_of(result, row)


class ResultsScreen(KvtuiScreen):
    """The tables of one run."""

    MODE = "results"
    CSS_PATH = "results.tcss"
    ACTIONS: ClassVar[tuple[Command, ...]] = (
        Command("results.documents", "enter", "Documents", "Open the tier's documents.", "documents"),
        Command("results.filter", "slash", "Filter", "Show only rows that match.", "filter", label="/"),
        Command("results.copy", "y", "Copy tables", "Copy the tables as text.", "copy_tables"),
        Command("results.history", "o", "Other run", "Choose another run in History.", "other_run"),
        Command("results.reload", "r", "Read again", "Read the record again.", "reload", shown=False),
    )
    BINDINGS: ClassVar[list[BindingType]] = bindings(ACTIONS)

    def __init__(self, session: Session, runs: Runs) -> None:
        super().__init__(session)
        self._runs = runs
        self._found: RunResult | None = None

    def compose_body(self) -> Iterable[Widget]:
        """Tiers above, the chosen one and the findings below."""
        tiers = Vertical(FilterTable(_COLUMNS, _EMPTY, id="tiers"), id="tiers-panel", classes="panel")
        tiers.border_title = "Results"
        tier = VerticalScroll(Static(id="tier"), id="tier-panel", classes="panel")
        findings = VerticalScroll(Static(id="findings"), id="findings-panel", classes="panel")
        findings.border_title = "Findings"
        return [tiers, Horizontal(tier, findings, id="below")]

    def on_screen_resume(self) -> None:
        """Show the run that the session looks at."""
        self.action_reload()

    def on_resize(self, event: events.Resize) -> None:
        """A narrow terminal gets fewer columns."""
        super().on_resize(event)
        self.query_one(FilterTable).set_width(event.size.width)

    def action_reload(self) -> None:
        """Read the record again."""
        in_background(self, self._load, "load")

    async def _load(self) -> None:
        self._found = await self._runs.result(self.session.run)
        self._draw()

    @property
    def _rows(self) -> tuple[Row, ...]:
        return self._found.result.rows if self._found else ()

    def _draw(self) -> None:
        table = self.query_one(FilterTable)
        table.set_rows([self._row(row) for row in self._rows])
        below = self.query_one("#below")
        below.display = self._found is not None
        if self._found is None:
            return
        result = self._found.result
        panel = self.query_one("#tiers-panel")
        panel.border_title = clean(f"Results · run {result.run} · plan {result.plan} · {result.state}")
        panel.border_subtitle = "medians · n = documents behind them · enter Documents"
        if not result.rows:
            table.set_empty(clean(f"Run {result.run} has no figures yet: {result.state}. {result.reason}"))
        findings = [clean(note) for note in result.notes]
        if result.reason:
            findings.insert(0, clean(result.reason))
        grid = findings_grid(self.app, result.findings)
        for text in findings:
            grid.add_row(Text("·"), Text(text))
        if not result.findings:
            grid.add_row(Text(""), Text("Nothing was found that spoils these figures."))
        self.query_one("#findings", Static).update(grid)
        self.query_one("#findings-panel").border_title = f"Findings ({len(result.findings)})"
        self._draw_tier()

    def _row(self, row: Row) -> TableRow:
        tier, cold, cached, speedup, worst, *rest = cells(row)
        colours = self.app.theme_variables
        texts: tuple[str | Text, ...] = (
            row.topology,
            clean(tier),
            Text(cold, style=colours["cold"]),
            Text(cached, style=colours["cached"]),
            Text(speedup, style="bold"),
            clean(worst),
            *rest,
        )
        return TableRow(_key(row), texts, _order(row))

    @property
    def _current(self) -> Row | None:
        key = self.query_one(FilterTable).current
        return next((row for row in self._rows if _key(row) == key), None)

    @on(FilterTable.Moved)
    def _draw_tier(self) -> None:
        row = self._current
        if row is None or self._found is None:
            return
        panel = self.query_one("#tier-panel")
        panel.border_title = clean(f"{row.tier}, {row.topology}")
        tier = self._found.plan.tier(row.tier)
        _, cold, cached, speedup, worst, reuse, size, throughput = cells(row)
        capacity = "no cache" if tier.capacity_gib is None else f"{tier.capacity_gib:g} GiB"
        lines = (
            ("kind", f"{tier.kind} · {capacity}"),
            ("cold", f"{cold} ms"),
            ("cached", f"{cached} ms"),
            ("speedup", f"{speedup}, worst {worst}"),
            ("interval", _sure(row)),
            ("reuse", f"{reuse} documents whole"),
            ("served by", row.served or DASH),
            ("KV reused", size),
            ("KV ÷ TTFT", throughput),
        )
        self.query_one("#tier", Static).update(
            facts_grid(self.app, (*lines, *_worth(self._found.result, row)))
        )

    @on(FilterTable.Chosen)
    def action_documents(self) -> None:
        """Open the documents of the tier under the cursor."""
        row = self._current
        if row is not None and self._found is not None:
            rows = document_rows(self._found.samples, row.tier, row.topology)
            self.app.push_screen(DocumentsDialog(clean(f"{row.tier}, {row.topology}"), rows))

    def action_filter(self) -> None:
        """Show fewer rows."""
        self.query_one(FilterTable).start_filter()

    def action_copy_tables(self) -> None:
        """Copy the tables as text."""
        if self._found is not None:
            host(self.app).copy(result_text(self._found.result), "the tables")

    async def action_other_run(self) -> None:
        """Choose another run."""
        await self.run_action("app.mode('history')")
