"""What a person can do on a screen: one command an action, behind key, footer, palette and help."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.binding import Binding, BindingType


@dataclass(frozen=True, slots=True)
class Command:
    """One action of a screen or of the app.

    Attributes:
        id: Stable name, ``screen.action``; a person's key settings refer to it.
        key: Its keys, separated by commas.
        title: A word or two for footer, palette and help.
        tooltip: One sentence that says what it does.
        action: Textual's name of the action.
        changes: It starts, stops, writes or deletes something, so ``--readonly`` takes it away.
        shown: It stands in the footer.
        label: How its key is written, where the key's own name is not clear.
    """

    id: str
    key: str
    title: str
    tooltip: str
    action: str
    changes: bool = False
    shown: bool = True
    label: str | None = None

    def binding(self) -> Binding:
        """The key binding of the command."""
        return Binding(
            self.key,
            self.action,
            self.title,
            show=self.shown,
            tooltip=self.tooltip,
            id=self.id,
            key_display=self.label,
        )


def bindings(commands: Iterable[Command]) -> list[BindingType]:
    """The key bindings of the commands, for a screen's ``BINDINGS``."""
    return [command.binding() for command in commands]
