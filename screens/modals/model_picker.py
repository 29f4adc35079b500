"""Chooses one of the models that were found on nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from kvtui.loglines import clean
from kvtui.nodefacts import ModelFolder
from screens.widgets.filter_table import Column, FilterTable, TableRow

_COLUMNS = (Column("name", "MODEL"), Column("size", "KV A TOKEN"), Column("path", "FOLDER"))


class ModelPicker(ModalScreen[str | None]):
    """The list of models; ``enter`` takes the folder of one, ``escape`` none.

    Args:
        models: The models.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "cancel", "Cancel"),
        Binding("slash", "filter", "Filter", key_display="/"),
    ]

    def __init__(self, models: Sequence[ModelFolder]) -> None:
        super().__init__()
        self._models = models

    def compose(self) -> ComposeResult:
        """The table."""
        with Vertical(classes="dialog plans") as dialog:
            dialog.border_title = "Take a model"
            dialog.border_subtitle = "enter Choose · / Filter · esc Cancel"
            yield FilterTable(_COLUMNS, "No model was found on the plan's nodes: 1, then r reads them.")

    def on_mount(self) -> None:
        """Fill it."""
        self.query_one(FilterTable).set_rows(
            [TableRow(one.path, (clean(one.name), _size(one), clean(one.path))) for one in self._models]
        )

    @on(FilterTable.Chosen)
    def _chosen(self, event: FilterTable.Chosen) -> None:
        self.dismiss(event.key)

    def action_filter(self) -> None:
        """Show fewer."""
        self.query_one(FilterTable).start_filter()

    def action_cancel(self) -> None:
        """Choose none."""
        self.dismiss(None)


def _size(model: ModelFolder) -> str:
    size = model.kv_bytes_per_token
    return clean(model.why_unknown or "") if size is None else f"{size:,} B"
