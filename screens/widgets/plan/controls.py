"""The controls of the form: each says which field got which text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.app import RenderResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.suggester import SuggestFromList
from textual.widget import Widget
from textual.widgets import Input

from kvtui.loglines import clean
from kvtui.plan_draft import OFF, ON


@dataclass
class Edited(Message):
    """A person changed a field.

    Attributes:
        field: Its name in the draft.
        text: Its text now.
    """

    field: str
    text: str


class TextField(Input):
    """A field of text.

    Args:
        field: Its name in the draft.
        example: What may stand in it, shown while it is empty.
    """

    DEFAULT_CSS = "TextField.-invalid { color: $error; text-style: bold; }"

    def __init__(self, field: str, example: str = "", *, classes: str = "") -> None:
        super().__init__(placeholder=example, compact=True, classes=classes, select_on_focus=False)
        self.field = field
        self._text = ""

    def put(self, text: str) -> None:
        """Show a text, without telling of it; what no terminal should see is left out of the view alone."""
        if self._text != text:
            self._text = text
            with self.prevent(Input.Changed):
                self.value = clean(text)
                if not self.has_focus:
                    self.cursor_position = 0

    def on_focus(self) -> None:
        """Go on at the end of the text."""
        self.cursor_position = len(self.value)

    def on_blur(self) -> None:
        """Show a long text from its beginning."""
        self.cursor_position = 0

    def suggest(self, texts: Iterable[str]) -> None:
        """Complete what is typed to one of these texts, with the right arrow."""
        self.suggester = SuggestFromList(list(texts), case_sensitive=False)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        harmless = clean(event.value)
        if harmless != event.value:
            self.value = harmless  # which is told of in turn
            return
        self._text = event.value
        self.post_message(Edited(self.field, event.value))


class CapacityField(TextField):
    """A capacity, which ``+`` and ``-`` step.

    Args:
        field: Its name in the draft.
        step: The next capacity up or down, or ``None`` where it ends.
    """

    def __init__(self, field: str, step: Callable[[str, bool], str | None], *, classes: str = "") -> None:
        super().__init__(field, "GiB", classes=classes)
        self._step = step

    async def _on_key(self, event: events.Key) -> None:
        if event.character not in ("+", "-"):
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()
        self.step(up=event.character == "+")

    def step(self, *, up: bool) -> None:
        """Go to the next capacity."""
        following = self._step(self.value, up)
        if following is None:
            self.app.bell()
        else:
            self.value = following
            self.cursor_position = len(following)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Step up, while the field has the focus."""
        if self.has_focus:
            event.stop()
            self.step(up=True)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Step down, while the field has the focus."""
        if self.has_focus:
            event.stop()
            self.step(up=False)


class ChoiceField(Widget, can_focus=True):
    """One of a few texts: the arrows, ``space`` and a click go through them.

    Args:
        field: Its name in the draft.
        texts: The texts.
    """

    DEFAULT_CSS = """
    ChoiceField { height: 1; background: $panel; }
    ChoiceField:focus { text-style: bold; background: $accent 20%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l,enter,space", "turn(1)", show=False),
        Binding("left,h", "turn(-1)", show=False),
    ]
    value: reactive[str] = reactive("")

    def __init__(self, field: str, texts: Iterable[str], *, classes: str = "") -> None:
        super().__init__(classes=classes)
        self.field = field
        self._texts = tuple(texts)

    def render(self) -> RenderResult:
        """The choice, and that there are others."""
        return Content.assemble(clean(self.value), (" ‹›", "$muted"))

    def put(self, text: str) -> None:
        """Show a choice, without telling of it."""
        self.value = text

    def action_turn(self, by: int) -> None:
        """Go to another text."""
        at = self._texts.index(self.value) if self.value in self._texts else 0
        self.value = self._texts[(at + by) % len(self._texts)]
        self.post_message(Edited(self.field, self.value))

    def on_click(self, event: events.Click) -> None:
        """Go to the next text."""
        event.stop()
        self.action_turn(1)


class Tick(Widget, can_focus=True):
    """Something that is on or off, seen without colour too.

    Args:
        field: Its name in the draft.
        label: What it is, or empty.
    """

    DEFAULT_CSS = """
    Tick { width: auto; height: 1; }
    Tick:focus { text-style: bold reverse; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "tick", show=False)]
    value: reactive[bool] = reactive(False, layout=True)

    def __init__(self, field: str, label: str = "", *, classes: str = "") -> None:
        super().__init__(classes=classes)
        self.field = field
        self._label = label

    def render(self) -> RenderResult:
        """A box, ticked or not, and its label."""
        box = Content.styled("[x]", "$accent") if self.value else Content.styled("[ ]", "$muted")
        return Content.assemble(box, f" {clean(self._label)}") if self._label else box

    def relabel(self, label: str) -> None:
        """Call it something else."""
        if label != self._label:
            self._label = label
            self.refresh(layout=True)

    def put(self, text: str) -> None:
        """Show a state, without telling of it."""
        self.value = text == ON

    def action_tick(self) -> None:
        """Switch it."""
        self.value = not self.value
        self.post_message(Edited(self.field, ON if self.value else OFF))

    def on_click(self, event: events.Click) -> None:
        """Switch it."""
        event.stop()
        self.action_tick()


Control = TextField | ChoiceField | Tick
