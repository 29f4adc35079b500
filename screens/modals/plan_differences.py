"""Two plans side by side: what differs, and what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from kvtui.check import Difference
from kvtui.loglines import clean
from kvtui.units import DASH
from screens.widgets.filter_table import Column, FilterTable, TableRow


class PlanDifferences(ModalScreen[None]):
    """A row a field that differs.

    Args:
        a: Name of the first plan.
        b: Name of the second.
        found: What differs.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "Close"),
        Binding("slash", "filter", "Filter", key_display="/"),
    ]

    def __init__(self, a: str, b: str, found: Sequence[Difference]) -> None:
        super().__init__()
        self._names = (a, b)
        self._found = tuple(found)

    def compose(self) -> ComposeResult:
        """The table."""
        a, b = (clean(name) for name in self._names)
        with Vertical(classes="dialog differences") as dialog:
            dialog.border_title = Content(f"{a} and {b}")
            dialog.border_subtitle = "/ Filter · esc Close"
            columns = (
                Column("field", "FIELD"),
                Column("a", a),
                Column("b", b),
                Column("so", "WHAT FOLLOWS"),
            )
            yield FilterTable(columns, "The plans are the same.")

    def on_mount(self) -> None:
        """Fill it."""
        self.query_one(FilterTable).set_rows(
            [
                TableRow(
                    one.field,
                    tuple(clean(text or DASH) for text in (one.field, one.a, one.b, one.consequence)),
                )
                for one in self._found
            ]
        )

    def on_resize(self, event: events.Resize) -> None:
        """All columns, whatever the width."""
        self.query_one(FilterTable).set_width(event.size.width)

    def action_filter(self) -> None:
        """Show fewer."""
        self.query_one(FilterTable).start_filter()

    def action_close(self) -> None:
        """Close it."""
        self.dismiss()
