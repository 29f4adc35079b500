"""Chooses one of the plans that there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from screens.widgets.filter_table import Column, FilterTable, TableRow

_COLUMNS = (Column("name", "PLAN"), Column("source", "FROM"))
_WORDS = {"saved": "saved by you", "shipped": "comes with kvtui"}


@dataclass(frozen=True, slots=True)
class PlanChoice:
    """A plan that can be opened."""

    source: Literal["saved", "shipped"]
    name: str


class PlanPicker(ModalScreen[PlanChoice | None]):
    """The list of plans; ``enter`` takes one, ``escape`` none.

    Args:
        title: What it is chosen for.
        choices: The plans.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "cancel", "Cancel"),
        Binding("slash", "filter", "Filter", key_display="/"),
    ]

    def __init__(self, title: str, choices: Sequence[PlanChoice]) -> None:
        super().__init__()
        self._title = title
        self._choices = {f"{choice.source}.{choice.name}": choice for choice in choices}

    def compose(self) -> ComposeResult:
        """The table."""
        with Vertical(classes="dialog plans") as dialog:
            dialog.border_title = self._title
            dialog.border_subtitle = "enter Choose · / Filter · esc Cancel"
            yield FilterTable(_COLUMNS, "No plan was saved yet: ^s saves the one in the form.")

    def on_mount(self) -> None:
        """Fill it."""
        self.query_one(FilterTable).set_rows(
            [TableRow(key, (one.name, _WORDS[one.source])) for key, one in self._choices.items()]
        )

    @on(FilterTable.Chosen)
    def _chosen(self, event: FilterTable.Chosen) -> None:
        self.dismiss(self._choices[event.key])

    def action_filter(self) -> None:
        """Show fewer."""
        self.query_one(FilterTable).start_filter()

    def action_cancel(self) -> None:
        """Choose none."""
        self.dismiss(None)
