"""Draws the lines of the form, all of them in one widget: one a control costs a second to open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.color import Color
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from screens.widgets.plan.drawing import Span, Spans


class FormLines(ScrollView, can_focus=False):
    """The lines, and the cursor on one of their controls."""

    DEFAULT_CSS = """
    FormLines {
        layer: lines;
        height: 1fr;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
    }
    """

    @dataclass
    class Clicked(Message):
        """A control was clicked.

        Attributes:
            name: Its name.
            x: On which of its columns.
        """

        name: str
        x: int

    @dataclass
    class Resized(Message):
        """There is room for other lines."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: tuple[Spans, ...] = ()
        self._places: dict[str, tuple[int, Span]] = {}
        self._cursor = ""
        self._styles: dict[str, Style] = {}

    @property
    def columns(self) -> int:
        """Columns that there are for a line."""
        return self.scrollable_content_region.width

    @property
    def names(self) -> tuple[str, ...]:
        """Every control, in order."""
        return tuple(self._places)

    @property
    def lines(self) -> tuple[Spans, ...]:
        """What is drawn."""
        return self._lines

    def place_of(self, name: str) -> tuple[int, Span] | None:
        """The line of a control, and what of it is drawn there."""
        return self._places.get(name)

    def show(self, lines: Sequence[Spans]) -> None:
        """Show these lines; only those are drawn that have changed."""
        before, self._lines = self._lines, tuple(lines)
        if len(before) != len(self._lines):
            self.virtual_size = Size(self.columns, len(self._lines))
        for at, spans in enumerate(self._lines):
            if at >= len(before) or before[at] != spans:
                self.refresh_line(at)
        if len(before) > len(self._lines):
            self.refresh_lines(len(self._lines), len(before) - len(self._lines))
        self._places = {
            span.part.name: (at, span)
            for at, spans in enumerate(self._lines)
            for span in spans
            if span.part is not None
        }

    def light(self, name: str) -> None:
        """Put the cursor on a control, or on none."""
        for one in {self._cursor, name} if name != self._cursor else ():
            if one in self._places:
                self.refresh_line(self._places[one][0])
        self._cursor = name

    def bring(self, name: str) -> None:
        """Bring a control into view, with what is said right below it."""
        if name not in self._places:
            return
        at, _ = self._places[name]
        last = at
        while last + 1 < len(self._lines) and any(span.x > 0 for span in self._lines[last + 1][:1]):
            last += 1
        self.scroll_to_region(Region(0, at, 1, min(last - at + 1, 4)), animate=False)

    def on_resize(self, event: events.Resize) -> None:
        """Other lines fit."""
        self.post_message(self.Resized())

    def render_line(self, y: int) -> Strip:
        """A line."""
        at = y + self.scroll_offset.y
        ground, x = self.rich_style, 0
        styles = self._styles or self._styled(ground)
        segments = []
        for span in self._lines[at] if at < len(self._lines) else ():
            if span.x > x:
                segments.append(Segment(" " * (span.x - x), ground))
            lit = span.part is not None and span.part.name == self._cursor
            segments.append(Segment(span.text, styles["cursor" if lit else span.style]))
            x = span.x + span.width
        return Strip(segments, x).adjust_cell_length(self.size.width, ground)

    def notify_style_update(self) -> None:
        """Colours may be others."""
        super().notify_style_update()
        self._styles = {}

    def _styled(self, ground: Style) -> dict[str, Style]:
        """The styles of spans: as component classes they would be resolved at every class of the screen."""
        variables = self.app.theme_variables
        ink = {name: Style.parse(variables[name]) for name in ("muted", "error", "accent")}
        panel = Style.parse(f"on {variables['panel']}")
        back = Color.parse(variables["background"])
        faint, lit = (
            back.blend(Color.parse(variables[name]), share).rich_color
            for name, share in (("muted", 0.6), ("accent", 0.2))
        )
        bold = Style(bold=True)
        self._styles = {
            "label": ground + ink["muted"],
            "press": ground + ink["muted"],
            "empty": ground + ink["muted"],
            "section": ground + ink["muted"] + bold,
            "field": ground + panel,
            "example": ground + panel + ink["muted"],
            "wrong": ground + ink["error"] + bold,
            "on": ground + ink["accent"],
            "off": ground + Style(color=faint),
            "cursor": ground + Style(bold=True, bgcolor=lit),
        }
        return self._styles

    def on_click(self, event: events.Click) -> None:
        """Say which control it was."""
        event.stop()
        at = event.y + self.scroll_offset.y
        for span in self._lines[at] if at < len(self._lines) else ():
            if span.part is not None and span.x <= event.x < span.x + span.width:
                self.post_message(self.Clicked(span.part.name, event.x - span.x))
