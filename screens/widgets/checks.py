"""Checks by node: a line a check, a column a node, a sign for the worst of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from kvtui.loglines import clean
from kvtui.preflight import SIGNS, CheckRow, State
from screens.signs import COLOURS, sign_text

_WORST_FIRST = (
    State.FAILED,
    State.WARNING,
    State.RUNNING,
    State.WAITING,
    State.UNKNOWN,
    State.OK,
    State.SKIPPED,
)
_TITLE, _WIDE_TITLE, _WIDE = 26, 34, 110
_SIGN = 2
_LEAST_CELL, _MOST_CELL = 8, 44


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One check on all its nodes.

    Attributes:
        id: The check.
        title: What is checked.
        rows: How it stands, node by node.
    """

    id: str
    title: str
    rows: tuple[CheckRow, ...]

    @property
    def state(self) -> State:
        """The worst of its rows."""
        return min((row.state for row in self.rows), key=_WORST_FIRST.index)


def lines_of(rows: Iterable[CheckRow]) -> tuple[CheckLine, ...]:
    """The rows of each check together, in their order."""
    found: dict[str, list[CheckRow]] = {}
    for row in rows:
        found.setdefault(row.id, []).append(row)
    return tuple(CheckLine(id_, of[0].title, tuple(of)) for id_, of in found.items())


def cut(text: str, width: int) -> str:
    """A text of exactly so many columns; what is left out is marked."""
    plain = Text(clean(text).replace("\n", " "))
    plain.truncate(max(0, width), overflow="ellipsis", pad=True)
    return plain.plain


class _List(OptionList, inherit_bindings=False):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "cursor_down", show=False),
        Binding("up,k", "cursor_up", show=False),
        Binding("home,g", "first", show=False),
        Binding("end,G", "last", show=False),
        Binding("pagedown,ctrl+d", "page_down", show=False),
        Binding("pageup,ctrl+u", "page_up", show=False),
    ]


class CheckTable(Vertical):
    """The table; its cursor stays on its check while rows change."""

    DEFAULT_CSS = """
    CheckTable > #heading { height: 1; color: $muted; }
    CheckTable > OptionList { height: 1fr; border: none; padding: 0; background: $background; }
    CheckTable > OptionList:focus { border: none; background: $background; background-tint: $background 0%; }
    CheckTable > OptionList > .option-list--option { padding: 0; }
    CheckTable > OptionList > .option-list--option-highlighted { background: $panel; color: $foreground; }
    CheckTable > OptionList:focus > .option-list--option-highlighted {
        background: $accent 25%; color: $foreground; text-style: none;
    }
    """

    class Moved(Message):
        """Another check is under the cursor."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: tuple[CheckLine, ...] = ()
        self._columns: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        """Heading and lines."""
        yield Static(id="heading", markup=False)
        yield _List()

    @property
    def _list(self) -> OptionList:
        return self.query_one(_List)

    @property
    def current(self) -> CheckLine | None:
        """The check under the cursor."""
        index = self._list.highlighted
        return self._lines[index] if index is not None and index < len(self._lines) else None

    def set_rows(self, rows: Iterable[CheckRow], columns: tuple[str, ...]) -> None:
        """Show these rows.

        Args:
            rows: The rows.
            columns: The nodes, in order.
        """
        before, self._lines, self._columns = self._lines, lines_of(rows), columns
        if [line.id for line in before] == [line.id for line in self._lines]:
            for index, (old, new) in enumerate(zip(before, self._lines, strict=True)):
                if old != new:
                    self._list.replace_option_prompt_at_index(index, self._prompt(new))
        else:
            self._rebuild(before)
        self._draw_heading()
        self.post_message(self.Moved())

    def _rebuild(self, before: tuple[CheckLine, ...]) -> None:
        index = self._list.highlighted
        kept = before[index].id if index is not None and index < len(before) else None
        self._list.clear_options()
        self._list.add_options(Option(self._prompt(line)) for line in self._lines)
        ids = [line.id for line in self._lines]
        if ids:
            self._list.highlighted = ids.index(kept) if kept in ids else 0

    def move_to(self, id_: str) -> None:
        """Put the cursor on a check."""
        for index, line in enumerate(self._lines):
            if line.id == id_:
                self._list.highlighted = index

    def on_resize(self, event: events.Resize) -> None:
        """Lines are cut to the width."""
        for index, line in enumerate(self._lines):
            self._list.replace_option_prompt_at_index(index, self._prompt(line))
        self._draw_heading()

    @on(OptionList.OptionHighlighted)
    def _moved(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self.post_message(self.Moved())

    @property
    def _widths(self) -> tuple[int, int]:
        """Columns of a title, and of a node's cell."""
        # The scroll bar may take one.
        width = max(0, self.size.width - 1)
        title = _WIDE_TITLE if width >= _WIDE else _TITLE
        left = width - _SIGN - title
        return title, min(_MOST_CELL, max(_LEAST_CELL, left // max(1, len(self._columns))))

    def _draw_heading(self) -> None:
        title, cell = self._widths
        heading = " " * _SIGN + cut("CHECK", title) + "".join(cut(node, cell) for node in self._columns)
        self.query_one("#heading", Static).update(heading)

    def _prompt(self, line: CheckLine) -> Text:
        title, cell = self._widths
        text = Text.assemble(sign_text(self.app, SIGNS[line.state]), " ", cut(line.title, title))
        if all(row.node not in self._columns for row in line.rows):
            row = line.rows[0]
            left = max(_LEAST_CELL, self.size.width - 1 - _SIGN - title)
            return text.append(cut(row.measured, left), self._style(row.state))
        by_node = {row.node: row for row in line.rows}
        mixed = len(by_node) > 1 and len({row.state for row in line.rows}) > 1
        for node in self._columns:
            found = by_node.get(node)
            if found is None:
                text.append(" " * cell)
                continue
            sign = f"{SIGNS[found.state]} " if mixed else ""
            text.append(cut(sign + found.measured, cell - 1) + " ", self._style(found.state))
        return text

    def _style(self, state: State) -> str:
        variables = self.app.theme_variables
        if state is State.OK:
            return variables["foreground"]
        return variables[COLOURS.get(SIGNS[state], "muted")]
