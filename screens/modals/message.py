"""Something that stops a person: one sentence, what to do, where the details are."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Button, Static


class Message(ModalScreen[None]):
    """A text with one way out.

    Args:
        title: What it is about.
        text: The sentences.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", "Close")]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        """The text and a button."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = self._title
            with VerticalScroll(can_focus=False):
                yield Static(self._text, markup=False)
            with Horizontal(classes="buttons"):
                yield Button("Close", id="close")

    def on_button_pressed(self) -> None:
        """Close it."""
        self.dismiss()

    def action_close(self) -> None:
        """Close it."""
        self.dismiss()
