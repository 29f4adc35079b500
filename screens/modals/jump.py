"""Jump: a letter on every panel that takes keys; the letter goes there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Static

LETTERS = "asdfghjklqwertyuiopzxcvbnm"


def targets_of(screen: Screen[Any]) -> dict[str, Widget]:
    """What takes keys on a screen, by the letter that goes there: the first of each panel."""
    found: dict[Widget, Widget] = {}
    for widget in screen.focus_chain:
        if widget.region.area:
            found.setdefault(_frame(widget), widget)
    return dict(zip(LETTERS, found.values(), strict=False))


def _frame(widget: Widget) -> Widget:
    """The panel that a widget stands in, or the widget."""
    frames = [one for one in widget.ancestors_with_self if isinstance(one, Widget) and one.has_class("panel")]
    return frames[0] if frames else widget


class Letter(Static):
    """The letter of a place; a click goes there too."""

    DEFAULT_CSS = """
    Letter {
        position: absolute;
        width: 3;
        height: 1;
        background: $accent;
        color: $background;
        text-style: bold;
    }
    """

    def __init__(self, letter: str, at: Region) -> None:
        super().__init__(f" {letter} ", markup=False)
        self.letter = letter
        self.styles.offset = (at.x, at.y)


class Jump(ModalScreen[Widget | None]):
    """Letters over the screen below.

    Args:
        targets: Where each letter goes.
    """

    DEFAULT_CSS = "Jump { align: left top; background: $background 30%; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave")]

    def __init__(self, targets: Mapping[str, Widget]) -> None:
        super().__init__()
        self._targets = targets

    def compose(self) -> ComposeResult:
        """A letter a place."""
        for letter, widget in self._targets.items():
            yield Letter(letter, _frame(widget).region)

    def on_key(self, event: events.Key) -> None:
        """Go there; any other key leaves."""
        event.stop()
        self.dismiss(self._targets.get(event.character or ""))

    def on_click(self, event: events.Click) -> None:
        """Go to a letter that is clicked."""
        letter = event.widget.letter if isinstance(event.widget, Letter) else ""
        self.dismiss(self._targets.get(letter))

    def action_leave(self) -> None:
        """Stay where one was."""
        self.dismiss(None)
