"""Widgets of lines: at each drawing only those that changed are made and painted, and borders likewise."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual
from textual.widget import Widget


class LineWidget(Widget):
    """A widget whose content is some lines of text."""

    _lines: tuple[Content, ...] = ()
    _strips: dict[int, tuple[Content, Strip]] | None = None
    _made_for: tuple[int, Style] | None = None

    def draw(self, content: Content) -> bool:
        """Show another content; whether anything differs."""
        before, self._lines = self._lines, tuple(content.split("\n", allow_blank=True))
        if len(before) != len(self._lines):
            self.refresh()
            return True
        changed = [
            y for y, pair in enumerate(zip(before, self._lines, strict=True)) if not pair[0].is_same(pair[1])
        ]
        if changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))
        return bool(changed)

    def render_line(self, y: int) -> Strip:
        """A line, made anew only when it changed."""
        width, style = self.size.width, self.visual_style
        if self.text_selection is not None:
            return super().render_line(y)
        if self._strips is None or self._made_for != (width, style):
            self._strips, self._made_for = {}, (width, style)
        if y >= len(self._lines):
            return Strip.blank(width, style.rich_style)
        line = self._lines[y]
        kept = self._strips.get(y)
        if kept is None or not kept[0].is_same(line):
            made = Visual.to_strips(self, line, width, 1, style)
            kept = self._strips[y] = line, made[0] if made else Strip.blank(width, style.rich_style)
        return kept[1]

    def notify_style_update(self) -> None:
        """Colours that are named in the lines may be others now."""
        self._strips = None
        super().notify_style_update()

    def render(self) -> Content:
        """All lines."""
        return Content("\n").join(self._lines)


class Borders:
    """What stands in the borders of a widget, painted without the rest of it.

    Args:
        widget: The widget; it has a border all around.
    """

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._shown = Content(""), Content("")

    def show(self, title: Content, conclusion: Content) -> bool:
        """Show the first line of both; whether they differ from what was shown."""
        title, conclusion = _one_line(title), _one_line(conclusion)
        before, self._shown = self._shown, (title, conclusion)
        widget, size = self._widget, self._widget.outer_size
        rows = []
        # Textual's own properties paint the whole widget.
        if not title.is_same(before[0]):
            widget._border_title = title  # noqa: SLF001
            rows.append(0)
        if not conclusion.is_same(before[1]):
            widget._border_subtitle = conclusion  # noqa: SLF001
            rows.append(size.height - 1)
        offset = widget.content_offset
        if rows:
            widget.refresh(*(Region(-offset.x, row - offset.y, size.width, 1) for row in rows))
        return bool(rows)


def _one_line(content: Content) -> Content:
    """What fits into a border, as Textual's own properties have it."""
    return content.expand_tabs(4).split("\n", allow_blank=True)[0]
