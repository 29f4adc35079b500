"""A line of the form: a label, controls, and below them why one of them is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
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


class Row(Vertical):
    """A line.

    Args:
        label: What stands at its left.
        parts: Controls, and words between them.
    """

    DEFAULT_CSS = """
    Row { height: auto; }
    Row > .line { height: 1; }
    Row > .line > .label { width: 11; color: $muted; }
    Row > .line > .words { width: auto; color: $muted; padding: 0 1; }
    Row > .line > ChoiceField { width: 1fr; }
    Row > .line > TextField { width: 1fr; }
    Row > .line > Tick { margin-right: 1; }
    Row > .fault { display: none; color: $error; padding-left: 2; height: auto; }
    Row > .fault.-shown { display: block; }
    Row TextField.-invalid { color: $error; text-style: bold; }
    """

    def __init__(self, label: str, *parts: Control | str) -> None:
        super().__init__()
        self._label = label
        self._parts: Sequence[Control | str] = parts

    def compose(self) -> ComposeResult:
        """The line, and the place of its faults."""
        with Horizontal(classes="line"):
            yield Label(self._label, classes="label")
            for part in self._parts:
                yield Label(part, classes="words") if isinstance(part, str) else part
        yield Static(classes="fault")

    def relabel(self, label: str) -> None:
        """Call it something else."""
        self.query_one(".label", Label).update(Content(clean(label)))

    def tell(self, faults: Mapping[str, str], hidden: Set[str] = frozenset()) -> None:
        """Mark what is wrong, and hide what says nothing."""
        controls = [part for part in self._parts if not isinstance(part, str)]
        for control in controls:
            control.display = control.field not in hidden
        self.display = any(control.display for control in controls)
        show_faults(self.query_one(".fault", Static), controls, faults)


def show_faults(place: Static, controls: Iterable[Control], faults: Mapping[str, str]) -> None:
    """Mark the controls that are wrong, and say why."""
    found = []
    for control in controls:
        fault = faults.get(control.field)
        control.set_class(fault is not None, "-invalid")
        if fault is not None:
            found.append(f"✗ {clean(fault)}")
    place.update(Content("\n".join(found)))
    place.set_class(bool(found), "-shown")
