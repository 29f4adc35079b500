"""A document to scroll through, with the number of each chunk in the margin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from screens.page import PageLine, layout

MOST_CHARACTERS = 500_000
"""A page holds no more of a document; nobody scrolls on."""


@dataclass(frozen=True, slots=True)
class Page:
    """What a page shows.

    Attributes:
        text: The text, as it is.
        chunk_ends: The characters after which a chunk ends.
        first_chunk: Number of the chunk in which the text begins.
        sent: How many characters a run sends; ``None`` where that is not known.
        ending: What stands where the sent part ends.
    """

    text: str
    chunk_ends: Sequence[int] = ()
    first_chunk: int = 1
    sent: int | None = None
    ending: str = ""


class DocumentPage(ScrollView, can_focus=True):
    """Shows a ``Page``; lines are laid out anew when its width changes."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "document-page--border",
        "document-page--margin",
        "document-page--unsent",
    }
    DEFAULT_CSS = """
    DocumentPage { overflow-x: hidden; overflow-y: scroll; }
    DocumentPage > .document-page--border { color: $accent; text-style: bold; }
    DocumentPage > .document-page--margin { color: $muted; }
    DocumentPage > .document-page--unsent { color: $neutral; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "Down", show=False, tooltip="A line down."),
        Binding("k", "scroll_up", "Up", show=False, tooltip="A line up."),
        Binding("ctrl+d,space", "page_down", "Page down", show=False, tooltip="A page down."),
        Binding("ctrl+u", "page_up", "Page up", show=False, tooltip="A page up."),
        Binding("g", "scroll_home", "Top", show=False, tooltip="To the beginning."),
        Binding("G", "scroll_end", "End", show=False, tooltip="To the end."),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._page = Page("")
        self._lines: list[PageLine] = []
        self._margin = 0

    def show(self, page: Page) -> None:
        """Show another page, from its beginning."""
        self._page = page
        self._lay_out()
        self.scroll_to(0, 0, animate=False)

    def on_resize(self, event: events.Resize) -> None:
        """Another width has other lines; what stood at the top stays near."""
        share = self.scroll_y / len(self._lines) if self._lines else 0.0
        self._lay_out()
        self.scroll_to(0, round(share * len(self._lines)), animate=False)

    def _lay_out(self) -> None:
        page, width = self._page, self.scrollable_content_region.width
        if not width:
            return
        last = page.first_chunk + len(page.chunk_ends)
        self._margin = len(str(last)) + 1 if page.chunk_ends else 0
        text = page.text[:MOST_CHARACTERS]
        ends = [end for end in page.chunk_ends if end <= len(text)]
        self._lines = layout(text, width - self._margin, ends, page.first_chunk, page.sent)
        if len(page.text) > len(text):
            self._lines.append(PageLine(f"… {len(page.text) - len(text):,} characters more", sent=False))
        self.virtual_size = Size(width, len(self._lines))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """A line of the page."""
        width, number = self.scrollable_content_region.width, y + round(self.scroll_y)
        if number >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        line = self._lines[number]
        segments = self._rule(width) if line.rule else self._segments(line)
        return Strip(segments).adjust_cell_length(width, self.rich_style)

    def _rule(self, width: int) -> list[Segment]:
        text = f"── {self._page.ending} " if self._page.ending else ""
        style = self.get_component_rich_style("document-page--border")
        return [Segment(text.ljust(width, "─"), style)]

    def _segments(self, line: PageLine) -> list[Segment]:
        plain = self.rich_style
        if not line.sent:
            plain = self.get_component_rich_style("document-page--unsent")
        mark = self.get_component_rich_style("document-page--border")
        margin = "" if line.chunk is None else str(line.chunk)
        segments = [
            Segment(
                margin.rjust(self._margin - 1).ljust(self._margin),
                self.get_component_rich_style("document-page--margin"),
            )
        ]
        at = 0
        for border in line.borders:
            segments += (
                Segment(line.text[at:border], plain),
                Segment(line.text[border : border + 1], mark),
            )
            at = border + 1
        segments.append(Segment(line.text[at:], plain))
        return segments
