"""The form: a cursor over its controls, and the field under it, typed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message

from kvtui.check import Assessment, TierFit
from kvtui.plan_draft import OFF, ON, Checked, Draft
from screens.widgets.plan.drawing import drawn
from screens.widgets.plan.editor import FieldEditor
from screens.widgets.plan.form_lines import FormLines
from screens.widgets.plan.parts import Choice, Field, Part, Press, Tick
from screens.widgets.plan.rows import lines_of, texts_of

_PAGE = 8


class PlanForm(Vertical, can_focus=True):
    """The form.

    Args:
        edited: Called at once with a field and its new text.
    """

    DEFAULT_CSS = "PlanForm { layers: lines editor; overflow: hidden; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("tab", "move(1,True)", show=False),
        Binding("shift+tab", "move(-1,True)", show=False),
        Binding("pagedown", f"move({_PAGE})", show=False),
        Binding("pageup", f"move(-{_PAGE})", show=False),
        Binding("right,l", "turn(1)", show=False),
        Binding("left,h", "turn(-1)", show=False),
        Binding("enter,space", "press", show=False),
    ]

    @dataclass
    class Pressed(Message):
        """Something is to be done.

        Attributes:
            name: What.
        """

        name: str

    def __init__(self, edited: Callable[[str, str], None], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._edited = edited
        self._draft: Draft | None = None
        self._texts: Mapping[str, str] = {}
        self._faults: Mapping[str, str] = {}
        self._fits: Mapping[str, TierFit] = {}
        self._node_names: Sequence[str] = ()
        self._models = 0
        self._at = ""
        self._lines = FormLines()
        self._editor = FieldEditor(self._typed)

    def compose(self) -> ComposeResult:
        """The lines, and over them the field that is typed in."""
        yield self._lines
        yield self._editor

    def on_mount(self) -> None:
        """The field goes where its line goes."""
        self.watch(self._lines, "scroll_y", self._place, init=False)

    # What it shows

    def show(self, draft: Draft, checked: Checked) -> None:
        """Show the draft, what is wrong with it, and nothing that says nothing."""
        self._draft, self._texts, self._faults = draft, texts_of(draft), checked.faults
        self._draw()

    def know(self, assessment: Assessment | None) -> None:
        """Capacities end at what the machines have."""
        self._fits = {fit.tier: fit for fit in assessment.fits} if assessment else {}
        self._draw()

    def offer(self, nodes: Sequence[str], models: int) -> None:
        """Names to complete, and how many models there are to take."""
        self._node_names, self._models = nodes, models
        self._draw()

    @on(FormLines.Resized)
    def _draw(self) -> None:
        draft, columns = self._draft, self._lines.columns
        if draft is None or columns <= 0:
            return
        before = self._lines.names
        lines = lines_of(draft, self._faults, self._fits, self._models)
        self._lines.show(drawn(lines, self._texts, self._faults, columns))
        names = self._lines.names
        if self._at not in names:
            at = before.index(self._at) if self._at in before else 0
            self._at = names[min(at, len(names) - 1)]
        self._place()

    # The cursor

    @property
    def active(self) -> bool:
        """Whether keys come here."""
        return self.screen.focused in (self, self._editor)

    @property
    def _part(self) -> Part | None:
        place = self._lines.place_of(self._at)
        return place[1].part if place else None

    def _place(self) -> None:
        """Put the cursor, and the field that is typed in, where they belong."""
        place, active = self._lines.place_of(self._at), self.active
        self._lines.light(self._at if active else "")
        if place is None or not active or not isinstance(place[1].part, Field):
            self._editor.display = False
            if active and self.screen.focused is self._editor:
                self.screen.set_focus(self, scroll_visible=False)
            return
        at, span = place
        self._editor.edit(place[1].part, self._texts[self._at], self._node_names)
        self._editor.set_class(self._at in self._faults, "-invalid")
        self._editor.styles.width = span.width
        self._editor.offset = (span.x, at - self._lines.scroll_offset.y)
        self._editor.display = True
        if self.screen.focused is not self._editor:
            self.screen.set_focus(self._editor, scroll_visible=False)

    def go_to(self, name: str) -> None:
        """Put the cursor on a control, and let keys come here."""
        self._at = name
        self._lines.bring(name)
        if not self.active:
            self.screen.set_focus(self, scroll_visible=False)
        self._place()

    def enter(self) -> None:
        """Go to the control that had the cursor last."""
        self.go_to(self._at)

    def on_focus(self) -> None:
        """Keys come here."""
        self._place()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Keys come to the field."""
        self._place()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Keys may go elsewhere."""
        self._place()

    def on_blur(self) -> None:
        """Keys may go elsewhere."""
        self._place()

    def action_move(self, by: int, leave: bool = False) -> None:
        """Go to another control; over the ends, out of the form where that is wanted."""
        names = self._lines.names
        to = names.index(self._at) + by if self._at in names else 0
        if leave and not 0 <= to < len(names):
            self._leave(by)
        elif names:
            self.go_to(names[min(max(0, to), len(names) - 1)])

    def _leave(self, by: int) -> None:
        chain = [one for one in self.screen.focus_chain if one is not self._editor]
        if chain:
            chain[(chain.index(self) + by) % len(chain)].focus()

    # What a person changes

    def _typed(self, field: Field, text: str) -> None:
        self._edited(field.name, text)

    def on_input_submitted(self, event: FieldEditor.Submitted) -> None:
        """The field is typed: go on."""
        event.stop()
        self.action_move(1)

    def action_turn(self, by: int) -> None:
        """Go to another of a few texts."""
        part = self._part
        if isinstance(part, Choice):
            text = self._texts[part.name]
            at = part.texts.index(text) if text in part.texts else 0
            self._edited(part.name, part.texts[(at + by) % len(part.texts)])

    def action_press(self) -> None:
        """Do what the control under the cursor does."""
        match self._part:
            case Choice():
                self.action_turn(1)
            case Tick(name=name):
                self._edited(name, OFF if self._texts[name] == ON else ON)
            case Press(name=name):
                self.post_message(self.Pressed(name))

    @on(FormLines.Clicked)
    def _clicked(self, event: FormLines.Clicked) -> None:
        event.stop()
        self.go_to(event.name)
        if isinstance(self._part, Field):
            self._editor.cursor_position = min(event.x, len(self._editor.value))
        else:
            self.action_press()
