"""Help: what the screen is for, and the keys that work now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Markdown, Static


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key and what it does."""

    key: str
    title: str
    tooltip: str


def live_keys(screen: Screen[None]) -> tuple[KeyRow, ...]:
    """The keys that work on a screen now, as they are bound now, each action once."""
    rows: dict[str, KeyRow] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if not binding.description or binding.action in rows or binding.system:
            continue
        key = screen.app.get_key_display(binding)
        title = binding.description if active.enabled else f"{binding.description} (read-only: off)"
        rows[binding.action] = KeyRow(key, title, binding.tooltip)
    return tuple(rows.values())


class Help(ModalScreen[None]):
    """The help of one screen.

    Args:
        title: Name of the screen.
        text: Its help, in Markdown.
        keys: Its keys.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark", "close", "Close"),
        Binding("j", "down", show=False),
        Binding("k", "up", show=False),
    ]

    def __init__(self, title: str, text: str, keys: Sequence[KeyRow]) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._keys = keys

    def compose(self) -> ComposeResult:
        """Text, then the table of keys."""
        width = max((len(row.key) for row in self._keys), default=0) + 2
        table = Content("\n").join(
            Content.assemble(
                (f"{row.key:<{width}}", "bold $accent"), f"{row.title:<14} ", (row.tooltip, "$muted")
            )
            for row in self._keys
        )
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = self._title
            dialog.border_subtitle = "esc Close"
            with VerticalScroll(id="help-scroll"):
                yield Markdown(self._text, id="help-text")
                yield Static(table)

    def action_close(self) -> None:
        """Close it."""
        self.dismiss()

    def action_down(self) -> None:
        """Scroll down."""
        self.query_one("#help-scroll").scroll_down()

    def action_up(self) -> None:
        """Scroll up."""
        self.query_one("#help-scroll").scroll_up()
