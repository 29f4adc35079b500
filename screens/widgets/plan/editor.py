"""The field that is being typed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.suggester import SuggestFromList
from textual.widgets import Input

from kvtui.draft_numbers import stepped
from kvtui.loglines import clean
from screens.widgets.plan.parts import Field, Steps

_STEP = 256


class FieldEditor(Input):
    """Stands over the form where the field under the cursor is.

    Args:
        typed: Called at every change with the field and its text, before the next key is looked at: by a
            message, what is typed ahead could reach the field of the next ``tab``.
    """

    DEFAULT_CSS = """
    FieldEditor { layer: editor; height: 1; display: none; }
    FieldEditor.-invalid { color: $error; text-style: bold; }
    """

    def __init__(self, typed: Callable[[Field, str], None]) -> None:
        super().__init__(compact=True, select_on_focus=False)
        self._typed = typed
        self._part: Field | None = None
        self._text = ""
        self._putting = False

    @property
    def content_width(self) -> int:
        """Columns to scroll through, in large steps: another number of them lays the whole screen out."""
        return (super().content_width // _STEP + 1) * _STEP

    @property
    def part(self) -> Field | None:
        """The field that it stands for."""
        return self._part

    def edit(self, part: Field, text: str, nodes: Sequence[str]) -> None:
        """Stand for a field.

        Args:
            part: The field.
            text: What it holds.
            nodes: Names to complete, where a node's is wanted.
        """
        same = self._part is not None and self._part.name == part.name
        self._part = part
        if not same:
            self.placeholder = part.example
            self.suggester = SuggestFromList(list(nodes), case_sensitive=False) if part.completes else None
        if self._text != text or not same:
            self._text = text
            # What no terminal should see is left out of the view alone.
            self._putting = True
            self.value = clean(text)
            self._putting = False
            self.cursor_position = len(self.value)

    def watch_value(self, value: str) -> None:
        """Tell of it."""
        if self._putting or self._part is None:
            return
        harmless = clean(value)
        if harmless != value:
            self.value = harmless  # which is told of in turn
            return
        self._text = value
        self._typed(self._part, value)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Nobody else is told."""
        event.stop()

    @property
    def _steps(self) -> Steps | None:
        return self._part.steps if self._part else None

    async def _on_key(self, event: events.Key) -> None:
        if event.character not in ("+", "-") or self._steps is None:
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()
        self._step(self._steps, up=event.character == "+")

    def _step(self, steps: Steps, *, up: bool) -> None:
        following = stepped(self.value, up, steps.smallest, steps.limit)
        if following is None:
            self.app.bell()
        else:
            self.value = following
            self.cursor_position = len(following)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Step a capacity up."""
        if self._steps is not None:
            event.stop()
            self._step(self._steps, up=True)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Step a capacity down."""
        if self._steps is not None:
            event.stop()
            self._step(self._steps, up=False)
