"""Asks for a line of text that may be secret, such as a key's passphrase."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static


class AskText(ModalScreen[str | None]):
    """One input; ``enter`` gives its text, ``escape`` gives ``None``.

    Args:
        title: What is asked for.
        why: What it is for, and where it goes.
        value: What stands in it at first.
        secret: The text is not shown.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel")]

    def __init__(self, title: str, why: str, value: str = "", *, secret: bool = False) -> None:
        super().__init__()
        self._title = title
        self._why = why
        self._value = value
        self._secret = secret

    def compose(self) -> ComposeResult:
        """The reason and the input."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = self._title
            dialog.border_subtitle = "enter Accept · esc Cancel"
            yield Static(self._why, markup=False)
            yield Input(self._value, password=self._secret, id="text")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give the text."""
        self.dismiss(event.value)

    def action_cancel(self) -> None:
        """Give nothing."""
        self.dismiss(None)
