"""The log panel: one log of a run at a time, followed, held, searched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input

from kvtui.live.told import LineRef, LogHead
from kvtui.live.view import LiveView
from kvtui.loglines import clean
from screens.widgets.live.lines import Borders
from screens.widgets.live.log_lines import LogLines, LogSource

Name = tuple[str, str]


class LogsPanel(Vertical):
    """A log, with an input for what is looked for."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "other(-1)", "Log before", show=False, tooltip="Show the log before."),
        Binding("right", "other(1)", "Next log", show=False, tooltip="Show the next log."),
        Binding("n", "again(1)", "Next match", show=False, tooltip="Go to the next match."),
        Binding("N", "again(-1)", "Match before", show=False, tooltip="Go to the match before."),
        Binding("escape", "close_find", "Close", show=False),
    ]

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self._source: LogSource | None = None
        self._heads: dict[Name, LogHead] = {}
        self._shown: Name | None = None
        self._pinned = False
        self._held = False
        self._words = ""
        self._told = ""
        self.monochrome = False
        self._borders = Borders(self)

    def compose(self) -> ComposeResult:
        """Lines and input."""
        yield LogLines()
        yield Input(placeholder="find in this log", id="find", disabled=True)

    @property
    def lines(self) -> LogLines:
        """The lines."""
        return self.query_one(LogLines)

    def on_mount(self) -> None:
        """Scrolling up holds the log; scrolling to its end follows it again."""
        self.watch(self.lines, "scroll_y", self._scrolled, init=False)

    def _scrolled(self) -> None:
        self._held = not self.lines.is_vertical_scroll_end
        self._border()

    def show(self, view: LiveView, source: LogSource) -> bool:
        """Take in what is new; a log that is held stays where it is. Whether anything is new."""
        if source is not self._source:
            self._source, self._shown, self._pinned, self._held = source, None, False, False
            self._heads = {}
            self.lines.turn_to(source, "", "")
        before = self._heads
        self._heads = {(head.node, head.process): head for head in view.logs}
        if not self._pinned and not self._held:
            self._turn_to(self._busiest(before, view))
        self._read()
        return self._border() or before != self._heads

    def _busiest(self, before: dict[Name, LogHead], view: LiveView) -> Name | None:
        """The log that grew: of the tier under way, on the serving node, if there is such a one."""
        grown = [name for name, head in self._heads.items() if before.get(name) != head]
        # A block is named after its tier and its topologies.
        blocks = (f"{view.head.tier}-single", f"{view.head.tier}-fleet")
        for fits in (
            lambda name: name[1].startswith(blocks) and name[0] == view.head.node,
            lambda name: name[1].startswith(blocks),
            lambda name: name[0] == view.head.node,
            lambda name: True,
        ):
            if found := [name for name in grown if fits(name)]:
                return self._shown if self._shown in found else found[-1]
        return self._shown

    def _turn_to(self, name: Name | None) -> None:
        if name is not None and name != self._shown:
            self._shown, self._held = name, False
            self.lines.turn_to(self._source, *name)

    def _read(self) -> None:
        if head := self._heads.get(self._shown) if self._shown else None:
            self.lines.take(head, follow=not self._held)

    def _border(self) -> bool:
        head = self._heads.get(self._shown) if self._shown else None
        if head is None:
            return self._borders.show(Content("Log"), Content("No line came yet."))
        several = f"  {list(self._heads).index((head.node, head.process)) + 1}/{len(self._heads)} ← →"
        title = Content.assemble(
            (clean(head.node), "bold"),
            f"  {clean(head.process)}",
            (f"  {head.last:,} lines", "$muted"),
            (f"  {head.warnings} warnings" if head.warnings else "", "$warning"),
            (several if len(self._heads) > 1 else "", "$muted"),
        )
        below = max(0, self.lines.virtual_size.height - int(self.lines.scroll_y) - self.lines.size.height)
        state = f"held, {below:,} lines below · end follows" if self._held else "follow"
        told = f"{clean(self._told)} · " if self._told else ""
        return self._borders.show(title, Content(f"{told}{state} · / find · w next warning"))

    def action_other(self, step: int) -> None:
        """Show another log, and stay with it."""
        names = list(self._heads)
        if names:
            at = names.index(self._shown) if self._shown in names else 0
            self._turn_to(names[(at + step) % len(names)])
            self._pinned = True
            self._read()
            self._border()

    def on_log_lines_follow(self) -> None:
        """Follow the busiest log's end again."""
        self._held = self._pinned = False
        self.lines.marked = None
        self._told = ""
        self._read()
        self.lines.to_end()
        self._border()

    def jump(self, ref: LineRef) -> bool:
        """Go to a line of any log; false when it is no longer in memory."""
        name = (ref.node, ref.process)
        if name not in self._heads:
            return False
        self._turn_to(name)
        self._pinned = True
        self._read()
        return self._mark(ref.line)

    def _mark(self, line: int | None) -> bool:
        if line is None or not self.lines.mark(line):
            return False
        self._held = True
        self._border()
        return True

    def _start(self) -> int:
        """Where a search goes on: at the marked line, else above what is seen."""
        return self.lines.marked or self.lines.first + int(self.lines.scroll_y) - 1

    def start_find(self) -> None:
        """Open the input."""
        field = self.query_one("#find", Input)
        field.disabled = False
        self.add_class("-finding")
        field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Look for what was typed."""
        event.stop()
        self._words = event.value
        self.action_close_find()
        self.action_again(1)

    def action_close_find(self) -> None:
        """Close the input."""
        field = self.query_one("#find", Input)
        if self.has_class("-finding"):
            self.lines.focus()
            field.disabled = True
            self.remove_class("-finding")

    def action_again(self, step: int) -> None:
        """Go to the next match, or the one before."""
        if not self._words:
            return
        found = self.lines.matches(self._words)
        line = _following(found, self._start(), step)
        place = f"{found.index(line) + 1} of {len(found)} with" if line else "nothing with"
        self._told = f"{place} “{self._words[:20]}”"
        self._mark(line)
        self._border()

    def next_warning(self) -> bool:
        """Go to the next warning; false when there is none."""
        return self._mark(self.lines.next_warning(self._start()))

    def copy_text(self) -> str:
        """The marked line, or what is seen."""
        lines = self.lines
        first = lines.first + int(lines.scroll_y)
        last = first + lines.size.height - 1
        if lines.marked is not None:
            first = last = lines.marked
        return "\n".join(lines.texts(first, last)) + "\n"


def _following(numbers: Sequence[int], start: int, step: int) -> int | None:
    """The number after or before ``start``, going round at the end."""
    if not numbers:
        return None
    if step > 0:
        return next((number for number in numbers if number > start), numbers[0])
    return next((number for number in reversed(numbers) if number < start), numbers[-1])
