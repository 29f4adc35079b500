"""A line of the form: a label, controls, and below them why one of them is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Label, Static

from kvtui.loglines import clean
from screens.widgets.plan.controls import ChoiceField, Control, TextField, Tick


def controls_of(widget: Widget) -> Iterable[Control]:
    """Every control below a widget, in order."""
    for one in widget.walk_children(Widget):
        if isinstance(one, TextField | ChoiceField | Tick):
            yield one


class FaultLine(Static):
    """Why something above it is wrong."""

    DEFAULT_CSS = "FaultLine { color: $error; padding-left: 2; height: auto; }"

    def __init__(self, text: str) -> None:
        super().__init__(Content(text))
        self.text = text

    def put(self, text: str) -> None:
        """Say something else, or nothing."""
        self.display = bool(text)
        if text and text != self.text:
            self.text = text
            self.update(Content(text))


def mark(controls: Iterable[Control], faults: Mapping[str, str]) -> str:
    """Mark the controls that are wrong; returns why they are."""
    found = []
    for control in controls:
        fault = faults.get(control.field)
        control.set_class(fault is not None, "-invalid")
        if fault is not None:
            found.append(f"✗ {clean(fault)}")
    return "\n".join(found)


class Row(Horizontal):
    """A line.

    Args:
        label: What stands at its left.
        parts: Controls, and words between them.
    """

    DEFAULT_CSS = """
    Row { height: 1; }
    Row > .label { width: 11; color: $muted; }
    Row > .words { width: auto; color: $muted; padding: 0 1; }
    Row > ChoiceField, Row > TextField { width: 1fr; }
    Row > Tick { margin-right: 1; }
    """

    def __init__(self, label: str, *parts: Control | str) -> None:
        super().__init__()
        self._label = label
        self._parts: Sequence[Control | str] = parts
        self._fault: FaultLine | None = None

    @property
    def controls(self) -> tuple[Control, ...]:
        """Its controls."""
        return tuple(part for part in self._parts if not isinstance(part, str))

    def compose(self) -> ComposeResult:
        """The line."""
        yield Label(self._label, classes="label")
        for part in self._parts:
            yield Label(part, classes="words") if isinstance(part, str) else part

    def tell(self, faults: Mapping[str, str], hidden: Set[str]) -> None:
        """Mark what is wrong, and hide what says nothing."""
        controls = self.controls
        for control in controls:
            control.display = control.field not in hidden
        shown = [control for control in controls if control.display]
        self.display = bool(shown)
        text = mark(shown, faults)
        if self._fault is not None:
            self._fault.put(text)
        elif text and isinstance(self.parent, Widget):
            self._fault = FaultLine(text)
            self.parent.mount(self._fault, after=self)
