"""A question with a few answers; the first, harmless one is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Button, Static


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer.

    Attributes:
        id: What the question returns.
        label: What stands on its button.
        destroys: It ends or deletes something.
    """

    id: str
    label: str
    destroys: bool = False


class Question(ModalScreen[str]):
    """Ask before something is done; ``escape`` gives the first answer.

    Args:
        title: What it is about.
        lines: What will be done, to what, and where.
        answers: The answers, the harmless one first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "harmless", "Cancel"),
        Binding("left,h", "app.focus_previous", show=False),
        Binding("right,l", "app.focus_next", show=False),
    ]

    def __init__(self, title: str, lines: Sequence[str], answers: Sequence[Answer]) -> None:
        super().__init__()
        self._title = title
        self._lines = lines
        self._answers = answers

    def compose(self) -> ComposeResult:
        """Title, lines, a button an answer."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = self._title
            with VerticalScroll(can_focus=False):
                yield Static("\n".join(self._lines), markup=False)
            with Horizontal(classes="buttons"):
                for answer in self._answers:
                    variant = "error" if answer.destroys else "default"
                    yield Button(answer.label, id=answer.id, variant=variant)  # type: ignore[arg-type]

    def on_mount(self) -> None:
        """The harmless answer has the focus."""
        self.query_one(f"#{self._answers[0].id}", Button).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Give the answer."""
        self.dismiss(event.button.id or self._answers[0].id)

    def action_harmless(self) -> None:
        """Give the first answer."""
        self.dismiss(self._answers[0].id)


def confirm(title: str, lines: Sequence[str], do_it: str) -> Question:
    """A question whose answers are ``cancel`` and ``do``."""
    return Question(title, lines, (Answer("cancel", "Cancel"), Answer("do", do_it, destroys=True)))
