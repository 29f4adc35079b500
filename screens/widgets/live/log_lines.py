"""The lines of one log: only those in sight are read, so a flood costs no more than a trickle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from kvtui.live.told import LogHead, LogRow
from screens.widgets.live.log_text import ERROR, WARNING, shown

_CACHED_ROWS = 500


class LogSource(Protocol):
    """Where the lines come from."""

    def log_rows(
        self, node: str, process: str, after: int = 0, most: int | None = None
    ) -> tuple[LogRow, ...]:
        """The kept lines of a log behind a line number."""

    def next_warning(self, node: str, process: str, after: int) -> int | None:
        """Number of the next line with a warning behind a line number, or ``None``."""


class LogLines(ScrollView, can_focus=True):
    """A log by the numbers of its lines in the file; it follows the end until one scrolls up."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", show=False),
        Binding("k", "scroll_up", show=False),
        Binding("g", "scroll_home", show=False),
        Binding("end,G", "follow", "Follow", show=False, tooltip="Follow the end of the log again."),
        Binding("ctrl+d", "page_down", show=False),
        Binding("ctrl+u", "page_up", show=False),
    ]

    @dataclass
    class Follow(Message):
        """The end of the log is to be followed again."""

    def __init__(self) -> None:
        super().__init__(id="log-lines")
        self.first, self.last = 1, 0
        self.marked: int | None = None
        self._source: LogSource | None = None
        self._log = ("", "")
        self._rows: dict[int, LogRow] = {}
        self._widest = 0
        self._follows = True

    def on_resize(self) -> None:
        """Stay at the end."""
        if self._follows:
            self.to_end()

    def turn_to(self, source: LogSource | None, node: str, process: str) -> None:
        """Show another log."""
        self._source, self._log = source, (node, process)
        self.first, self.last, self.marked = 1, 0, None
        self._rows.clear()
        self._widest = 0
        self._resize()

    def take(self, head: LogHead, *, follow: bool) -> None:
        """Let the log be as long as it is; what is read stays where it is unless it is followed."""
        first = head.last - head.kept + 1
        if (first, head.last) == (self.first, self.last) and follow == self._follows:
            return
        gone = max(0, first - self.first)
        if head.last < self.last:
            self._rows.clear()
        self.first, self.last = first, head.last
        self._resize()
        self._follows = follow
        if follow:
            self.to_end()
        elif gone:
            self.scroll_to(y=max(0, self.scroll_y - gone), animate=False, immediate=True)
        self.refresh()

    def _resize(self) -> None:
        """Let there be as much to scroll; the screen is not laid out anew for it."""
        size = Size(self._widest, max(0, self.last - self.first + 1))
        if size != self.virtual_size:
            self.set_reactive(LogLines.virtual_size, size)
            self._scroll_update(size)

    def action_follow(self) -> None:
        """Ask to be kept at the end."""
        self.post_message(self.Follow())

    def to_end(self) -> None:
        """Show the newest lines."""
        self.scroll_end(animate=False, immediate=True, x_axis=False)

    def mark(self, line: int) -> bool:
        """Bring a line into sight and mark it; false when it is no longer in memory."""
        if not self.first <= line <= self.last:
            return False
        self.marked = line
        y = line - self.first - self.size.height // 3
        self.scroll_to(0, max(0, y), animate=False, immediate=True)
        self.refresh()
        return True

    def matches(self, words: str) -> tuple[int, ...]:
        """Numbers of the lines that hold the words, as they stand in the file."""
        wanted = words.casefold()
        return tuple(row.line for row in self._read(0) if wanted in row.text.casefold())

    def next_warning(self, after: int) -> int | None:
        """Number of the next line with a warning or an error, going round at the end."""
        if self._source is None:
            return None
        found = self._source.next_warning(*self._log, after)
        return self._source.next_warning(*self._log, 0) if found is None else found

    def texts(self, first: int, last: int) -> tuple[str, ...]:
        """Lines as they stand in the file, without escapes."""
        return tuple(row.text for row in self._read(first - 1, last - first + 1) if row.line <= last)

    def _read(self, after: int, most: int | None = None) -> Sequence[LogRow]:
        return self._source.log_rows(*self._log, after, most) if self._source else ()

    def _row(self, line: int) -> LogRow | None:
        if line not in self._rows:
            if len(self._rows) > _CACHED_ROWS:
                self._rows.clear()
            self._rows.update((row.line, row) for row in self._read(line - 1, self.size.height))
        return self._rows.get(line)

    def render_line(self, y: int) -> Strip:
        """A line; warnings have their colour, the marked one its background."""
        line = self.first + self.scroll_offset.y + y
        width, base = self.size.width, self.rich_style
        row = self._row(line) if self.first <= line <= self.last else None
        if row is None:
            return Strip.blank(width, base)
        text = shown(row)
        if text[:1] in (WARNING, ERROR):
            base += self._style(color="warning" if text[0] == WARNING else "error")
        if line == self.marked:
            base += self._style(background="panel-lighten-2") + Style(bold=True)
        strip = Strip([Segment(text.expandtabs(), base)])
        if strip.cell_length > self._widest:
            self._widest = strip.cell_length
            self.call_later(self._resize)
        left = self.scroll_offset.x
        return strip.crop_extend(left, left + width, base)

    def _style(self, *, color: str = "", background: str = "") -> Style:
        variables = self.app.theme_variables
        front = Color.parse(variables[color]).rich_color if color else None
        back = Color.parse(variables[background]).rich_color if background else None
        return Style(color=front, bgcolor=back)
