"""The lines of one log: written in batches, followed at the end, with one line marked."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.style import Style
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.message import Message
from textual.strip import Strip
from textual.widgets import Log

from kvtui.live.view import LogRow
from screens.widgets.live.log_text import ERROR, WARNING, shown

MAX_LINES = 5_000


class LogLines(Log):
    """The newest lines of a log, by their numbers in the file."""

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
        super().__init__(max_lines=MAX_LINES, auto_scroll=False, id="log-lines")
        self.last = 0
        self.marked: int | None = None
        self._raw: deque[str] = deque(maxlen=MAX_LINES)

    @property
    def first(self) -> int:
        """Number of the first line here."""
        return self.last - len(self.lines) + 1

    def forget(self) -> None:
        """Begin another log."""
        self.clear()
        self._raw.clear()
        self.last = 0
        self.marked = None

    def add(self, rows: Sequence[LogRow]) -> None:
        """Write the next lines, and stay at the end."""
        if not rows:
            return
        if rows[0].line != self.last + 1:
            # Lines between were dropped from memory: what is here does not go on.
            self.clear()
            self._raw.clear()
        self._raw.extend(row.text for row in rows)
        self.write_lines([shown(row) or " " for row in rows], scroll_end=False)
        self.last = rows[-1].line
        self.to_end()

    def action_follow(self) -> None:
        """Ask to be kept at the end."""
        self.post_message(self.Follow())

    def to_end(self) -> None:
        """Show the newest lines."""
        self.scroll_end(animate=False, immediate=True, x_axis=False)

    def mark(self, line: int) -> bool:
        """Bring a line into sight and mark it; false when it is not here."""
        if not self.first <= line <= self.last:
            return False
        self.marked = line
        y = line - self.first
        self.scroll_to(0, max(0, y - self.size.height // 3), animate=False, immediate=True)
        self.refresh()
        return True

    def matches(self, words: str) -> tuple[int, ...]:
        """Numbers of the lines that hold the words, as shown or as they stand in the file."""
        wanted = words.casefold()
        both = enumerate(zip(self.lines, self._raw, strict=True), self.first)
        return tuple(
            number for number, (text, raw) in both if wanted in text.casefold() or wanted in raw.casefold()
        )

    def warnings(self) -> tuple[int, ...]:
        """Numbers of the lines with a warning or an error."""
        return tuple(
            number for number, text in enumerate(self.lines, self.first) if text[:1] in (WARNING, ERROR)
        )

    def raw(self, first: int, last: int) -> tuple[str, ...]:
        """Lines as they stand in the file, without escapes."""
        return tuple(self._raw)[max(0, first - self.first) : last - self.first + 1]

    def render_line(self, y: int) -> Strip:
        """A line; warnings have their colour, the marked one its background."""
        strip = super().render_line(y)
        index = self.scroll_offset.y + y
        if index >= len(self.lines):
            return strip
        sign = self.lines[index][:1]
        if sign in (WARNING, ERROR):
            strip = strip.apply_style(self._style(color="warning" if sign == WARNING else "error"))
        if self.marked is not None and index == self.marked - self.first:
            strip = strip.apply_style(self._style(background="panel-lighten-2") + Style(bold=True))
        return strip

    def _style(self, *, color: str = "", background: str = "") -> Style:
        variables = self.app.theme_variables
        front = Color.parse(variables[color]).rich_color if color else None
        back = Color.parse(variables[background]).rich_color if background else None
        return Style(color=front, bgcolor=back)
