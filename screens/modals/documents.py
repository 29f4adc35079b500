"""The documents of one tier, and the evidence of the one under the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from kvtui.attribution import Verdict
from kvtui.document_rows import DocumentRow
from kvtui.samples import Sample
from kvtui.served import evidence_lines
from kvtui.units import DASH
from screens.signs import sign_text
from screens.widgets.facts import facts_grid
from screens.widgets.filter_table import Column, FilterTable, TableRow

_COLUMNS = (
    Column("place", "#", right=True),
    Column("document", "DOCUMENT"),
    Column("cold", "COLD ms", right=True),
    Column("cached", "CACHED ms", right=True),
    Column("speedup", "SPEEDUP", right=True),
    Column("sign", ""),
    Column("reuse", "REUSE"),
    Column("tokens", "TOKENS REUSED", right=True),
)
_SIGNS = {Verdict.FULL: "✓", Verdict.PARTIAL: "!", Verdict.NONE: "·", Verdict.UNKNOWN: "?"}


def _ms(sample: Sample | None) -> str:
    return DASH if sample is None or sample.ttft_ms is None else f"{sample.ttft_ms:,.1f}"


def _figure(value: float | None) -> float:
    return -1.0 if value is None else value


class DocumentsDialog(ModalScreen[None]):
    """One row a document and repeat, in request order.

    Args:
        title: Tier and topology.
        rows: Its documents.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "Close"),
        Binding("slash", "filter", "Filter", key_display="/"),
    ]

    def __init__(self, title: str, rows: Sequence[DocumentRow]) -> None:
        super().__init__()
        self._title = title
        self._documents = {row.name: row for row in rows}

    def compose(self) -> ComposeResult:
        """Table and evidence."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = self._title
            dialog.border_subtitle = "/ Filter · click a heading to sort · esc Close"
            yield FilterTable(_COLUMNS, "No request of this tier was answered yet.", id="documents")
            yield Static(id="request")

    def on_mount(self) -> None:
        """Fill the table."""
        self.query_one(FilterTable).set_rows([self._row(row) for row in self._documents.values()])

    def _row(self, row: DocumentRow) -> TableRow:
        verdict = row.verdict
        reused = row.cached.reused_tokens if row.cached else None
        cells: tuple[str | Text, ...] = (
            str(row.place),
            row.name,
            _ms(row.cold),
            _ms(row.cached),
            DASH if row.speedup is None else f"{row.speedup:.2f}×",
            sign_text(self.app, _SIGNS[verdict]) if verdict else "",
            str(verdict) if verdict else DASH,
            DASH if reused is None else f"{reused:,}",
        )
        order = (
            row.place,
            row.name,
            _figure(row.cold.ttft_ms if row.cold else None),
            _figure(row.cached.ttft_ms if row.cached else None),
            _figure(row.speedup),
            str(verdict),
            str(verdict),
            _figure(reused),
        )
        return TableRow(row.name, cells, order)

    @on(FilterTable.Moved)
    def _moved(self, event: FilterTable.Moved) -> None:
        row = self._documents.get(event.key or "")
        lines: list[tuple[str, str]] = []
        for name, sample in (("cold", row.cold), ("cached", row.cached)) if row else ():
            if sample is not None:
                lines.append((name, f"{sample.node} · {sample.request_id}"))
                lines.append(("", f"{sample.verdict}: {sample.reason}"))
                lines += [("", line) for line in evidence_lines(sample)]
        self.query_one("#request", Static).update(facts_grid(self.app, lines))

    def action_filter(self) -> None:
        """Show fewer rows."""
        self.query_one(FilterTable).start_filter()

    def action_close(self) -> None:
        """Close it."""
        self.dismiss()
