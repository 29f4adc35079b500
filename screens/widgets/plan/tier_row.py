"""A tier in the form: on or off, its name, how large it is, and where it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Button, Label

from kvtui.check import TierFit
from kvtui.draft_numbers import stepped
from kvtui.loglines import clean
from kvtui.plan import Policy, TierKind
from kvtui.plan_draft import OFF, ON, TIER_FIELDS, TierDraft, shown_fields
from screens.widgets.plan.controls import CapacityField, ChoiceField, TextField, Tick
from screens.widgets.plan.row import FaultLine, controls_of, mark


class TierRow(Vertical):
    """A tier.

    Args:
        tier: What it holds at first.
    """

    DEFAULT_CSS = """
    TierRow { height: auto; }
    TierRow > Horizontal { height: 1; }
    TierRow .name { width: 13; margin-left: 1; }
    TierRow .capacity { width: 9; margin-left: 1; }
    TierRow .limit { width: 1fr; color: $muted; padding-left: 1; }
    TierRow .more { padding-left: 4; }
    TierRow .kind { width: 10; }
    TierRow .policy { width: 8; margin-left: 1; }
    TierRow .path { width: 1fr; margin-left: 1; }
    TierRow .workers { width: 5; }
    TierRow .words { width: auto; color: $muted; margin: 0 1; }
    TierRow .remove { width: 3; min-width: 3; height: 1; border: none; background: $background;
                      color: $muted; margin-left: 1; }
    TierRow.-off .name, TierRow.-off .capacity, TierRow.-off .more { opacity: 50%; }
    """

    @dataclass
    class Removed(Message):
        """A person takes the tier out of the form."""

        key: int

    def __init__(self, tier: TierDraft) -> None:
        super().__init__()
        self.key = tier.key
        self._first = tier
        self._fit: TierFit | None = None
        self._fault: FaultLine | None = None
        self._limit = ""

    def _field(self, name: str) -> str:
        return f"tiers.{self.key}.{name}"

    def compose(self) -> ComposeResult:
        """Two lines and the place of its faults."""
        with Horizontal():
            yield Tick(self._field(ON))
            yield TextField(self._field("name"), classes="name")
            yield CapacityField(self._field("capacity_gib"), self._next, classes="capacity")
            yield Label("", classes="limit")
        with Horizontal(classes="more"):
            yield ChoiceField(self._field("kind"), TierKind, classes="kind")
            yield TextField(self._field("path"), "folder on each node", classes="path")
            yield Label("workers", classes="words")
            yield TextField(self._field("workers"), classes="workers")
            yield ChoiceField(self._field("policy"), Policy, classes="policy")
            yield Button("✗", classes="remove", tooltip="Take this tier out of the form.")

    def on_mount(self) -> None:
        """Fill it."""
        self.put(self._first, {})

    def _next(self, text: str, up: bool) -> str | None:
        fit = self._fit
        return stepped(text, up, fit.smallest_gib if fit else None, fit.limit_gib if fit else None)

    def put(self, tier: TierDraft, faults: Mapping[str, str]) -> None:
        """Show the tier as it is typed."""
        shown = shown_fields(tier.kind)
        controls = list(controls_of(self))
        for control in controls:
            name = control.field.rpartition(".")[2]
            if name in TIER_FIELDS:
                control.put(tier.values[name])
                control.display = name in shown
            else:
                control.put(ON if tier.on else OFF)
        self.query_one(".words").display = "workers" in shown
        self.set_class(not tier.on, "-off")
        self._tell(mark(controls, faults if tier.on else {}))
        self._draw_limit(tier.kind)

    def _tell(self, text: str) -> None:
        if self._fault is not None:
            self._fault.put(text)
        elif text:
            self._fault = FaultLine(text)
            self.mount(self._fault)

    def fit(self, fit: TierFit | None) -> None:
        """What the machine can give, for the stepper's end."""
        self._fit = fit
        self._draw_limit(self.query_one(".kind", ChoiceField).value)

    def _draw_limit(self, kind: object) -> None:
        limit = self._fit.limit_gib if self._fit else None
        text = "GiB" if limit is None else f"of {limit:,.4g} GiB"
        text = "the baseline" if kind == TierKind.NONE else text
        if text == self._limit:
            return
        self._limit = text
        label = self.query_one(".limit", Label)
        label.update(text)
        label.tooltip = Content(clean(self._fit.limit_of)) if self._fit and limit is not None else None

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Take it out."""
        event.stop()
        self.post_message(self.Removed(self.key))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Bring both lines into view."""
        self.scroll_visible()
