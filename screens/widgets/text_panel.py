"""Text in a panel: laid out once when it changes, and only its changed lines are drawn anew."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip


class TextPanel(ScrollView):
    """A panel that scrolls; a ``Static`` in a scroll would lay the whole screen out at every change."""

    DEFAULT_CSS = "TextPanel { overflow-x: hidden; scrollbar-gutter: stable; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._text: RenderableType = Text()
        self._strips: list[Strip] = []
        self._laid_for = 0

    def show(self, text: RenderableType) -> None:
        """Show something else."""
        self._text = text
        self._lay(self._laid_for)

    def _lay(self, width: int) -> None:
        self._laid_for = width
        if width <= 0:
            return
        console = self.app.console
        options = console.options.update(width=width, height=None, highlight=False, markup=False)
        lines = console.render_lines(self._text, options, style=self.rich_style)
        before, self._strips = self._strips, [Strip(line, width) for line in lines]
        self.virtual_size = Size(width, len(lines))
        for at in range(max(len(before), len(lines))):
            if at >= min(len(before), len(lines)) or before[at] != self._strips[at]:
                self.refresh_line(at)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many rows as the text takes."""
        room = width - self.styles.scrollbar_size_vertical
        if room != self._laid_for:
            self._lay(room)
        return len(self._strips)

    def on_resize(self, event: events.Resize) -> None:
        """The text takes other lines."""
        width = self.scrollable_content_region.width
        if width != self._laid_for:
            self._lay(width)

    def notify_style_update(self) -> None:
        """Colours may be others."""
        super().notify_style_update()
        if self.is_attached:
            self._lay(self._laid_for)

    @property
    def plain(self) -> str:
        """What it says, line by line."""
        return "\n".join(strip.text.rstrip() for strip in self._strips)

    def render_line(self, y: int) -> Strip:
        """A line."""
        at = y + self.scroll_offset.y
        if at < len(self._strips):
            return self._strips[at].adjust_cell_length(self.size.width, self.rich_style)
        return Strip.blank(self.size.width, self.rich_style)
