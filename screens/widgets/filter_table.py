"""A table that is filtered as one types, sorted by a click, and walked with vim's keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import DataTable, Input, Static

Cell = str | Text
Sortable = str | float


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Attributes:
        key: Its name in code.
        title: Its heading.
        right: Figures stand at the right.
        least: Width of the terminal, in columns, from which it is shown.
    """

    key: str
    title: str
    right: bool = False
    least: int = 0


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row.

    Attributes:
        key: Its identity, kept while rows come and go.
        cells: A cell a column.
        order: What each column sorts by; empty sorts by the cells' text.
    """

    key: str
    cells: tuple[Cell, ...]
    order: tuple[Sortable, ...] = ()


def _plain(cell: Cell) -> str:
    return cell.plain if isinstance(cell, Text) else cell


class _Table(DataTable[Text]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
        Binding("g", "scroll_top", show=False),
        Binding("G", "scroll_bottom", show=False),
        Binding("ctrl+d", "page_down", show=False),
        Binding("ctrl+u", "page_up", show=False),
    ]

    def on_resize(self) -> None:
        """The row under the cursor stays in sight."""
        self.move_cursor(row=self.cursor_row)


class FilterTable(Vertical):
    """Rows below an input that appears with ``/``; an empty table says what to do.

    Args:
        columns: Its columns.
        empty: What stands there while there are no rows.
    """

    DEFAULT_CSS = """
    FilterTable > Input { display: none; height: 1; border: none; padding: 0 1; }
    FilterTable.-filtering > Input { display: block; }
    FilterTable > #empty { display: none; color: $muted; padding: 1 2; height: 1fr; }
    FilterTable.-empty > #empty { display: block; }
    FilterTable.-empty > DataTable { display: none; }
    FilterTable > DataTable { height: 1fr; }
    """

    @dataclass
    class Chosen(Message):
        """A row was opened with ``enter`` or a click."""

        table: FilterTable
        key: str

        @property
        def control(self) -> FilterTable:
            """The table, for ``on`` with a selector."""
            return self.table

    @dataclass
    class Moved(Message):
        """Another row is under the cursor."""

        table: FilterTable
        key: str | None

        @property
        def control(self) -> FilterTable:
            """The table, for ``on`` with a selector."""
            return self.table

    def __init__(self, columns: Sequence[Column], empty: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._columns = tuple(columns)
        self._empty = empty
        self._rows: tuple[TableRow, ...] = ()
        self._sort: tuple[int, bool] | None = None
        self._width = 0

    def compose(self) -> ComposeResult:
        """Filter, table, and the sentence for an empty one."""
        # Disabled while it is hidden, or it would get the screen's first focus.
        yield Input(placeholder="filter", id="filter", disabled=True)
        yield _Table(cursor_type="row", zebra_stripes=False, cell_padding=1)
        yield Static(self._empty, id="empty", markup=False)

    def on_mount(self) -> None:
        """Show what there is."""
        self._draw()

    @property
    def _table(self) -> DataTable[Text]:
        return self.query_one(_Table)

    @property
    def current(self) -> str | None:
        """Key of the row under the cursor."""
        table = self._table
        if not table.is_valid_row_index(table.cursor_row):
            return None
        return table.coordinate_to_cell_key(table.cursor_coordinate).row_key.value

    def set_rows(self, rows: Sequence[TableRow]) -> None:
        """Show these rows; the cursor stays on its row."""
        self._rows = tuple(rows)
        if self.is_mounted:
            self._draw()

    def set_empty(self, text: str) -> None:
        """Say something else while there are no rows."""
        self._empty = text
        self.query_one("#empty", Static).update(text)

    def set_width(self, width: int) -> None:
        """Show the columns that a terminal of this width has room for."""
        if width != self._width:
            self._width = width
            self._draw()

    def start_filter(self) -> None:
        """Open the filter, and type into it."""
        self.add_class("-filtering")
        field = self.query_one(Input)
        field.disabled = False
        field.focus()

    def move_to(self, key: str) -> None:
        """Put the cursor on a row, if it is there."""
        for index, row in enumerate(self._table.rows):
            if row.value == key:
                self._table.move_cursor(row=index)

    def step(self, by: int) -> None:
        """Move the cursor some rows down, or up."""
        self._table.move_cursor(row=self._table.cursor_row + by)

    def _shown(self) -> list[TableRow]:
        wanted = self.query_one(Input).value.casefold().split()
        rows = [
            row
            for row in self._rows
            if all(any(word in _plain(cell).casefold() for cell in row.cells) for word in wanted)
        ]
        if self._sort is not None:
            column, descending = self._sort
            rows.sort(key=lambda row: _order(row, column), reverse=descending)
        return rows

    def _draw(self) -> None:
        table, current = self._table, self.current
        shown = [index for index, column in enumerate(self._columns) if column.least <= self._width]
        rows = [(row.key, [self._cell(row, index) for index in shown]) for row in self._shown()]
        table.clear(columns=True)
        for place, index in enumerate(shown):
            column = self._columns[index]
            mark = ""
            if self._sort is not None and self._sort[0] == index:
                mark = " ▾" if self._sort[1] else " ▴"
            heading = Text(column.title + mark, justify="right" if column.right else "left")
            # The table's own measuring comes later, and after a dialog it was seen to leave cells out.
            widest = max([heading.cell_len, *(cells[place].cell_len for _, cells in rows)])
            table.add_column(heading, key=column.key, width=widest)
        for key, cells in rows:
            table.add_row(*cells, key=key)
        self.set_class(not self._rows, "-empty")
        if current is not None:
            self.move_to(current)

    def _cell(self, row: TableRow, index: int) -> Text:
        cell = row.cells[index]
        text = cell.copy() if isinstance(cell, Text) else Text(cell)
        text.justify = "right" if self._columns[index].right else "left"
        return text

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter as one types."""
        event.stop()
        self._draw()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go back to the rows; the filter stays."""
        event.stop()
        self._table.focus()

    def on_key(self, event: object) -> None:
        """``escape`` empties the filter and leaves it."""
        if getattr(event, "key", "") == "escape" and self.has_class("-filtering"):
            event.stop()  # type: ignore[attr-defined]
            field = self.query_one(Input)
            field.value = ""
            self._table.focus()
            field.disabled = True
            self.remove_class("-filtering")

    def on_data_table_header_selected(self, event: DataTable.HeaderSelected) -> None:
        """Sort by a column; again, the other way round."""
        event.stop()
        index = next(i for i, column in enumerate(self._columns) if column.key == event.column_key.value)
        down = self._sort == (index, False)
        self._sort = (index, down)
        self._draw()

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """A row was opened."""
        event.stop()
        if event.row_key.value is not None:
            self.post_message(self.Chosen(self, event.row_key.value))

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        """The cursor moved."""
        event.stop()
        self.post_message(self.Moved(self, event.row_key.value if event.row_key else None))


def _order(row: TableRow, column: int) -> tuple[bool, float, str]:
    """Figures before texts, so that a column may hold both."""
    value: Sortable = row.order[column] if row.order else _plain(row.cells[column])
    if isinstance(value, str):
        return (True, 0.0, value.casefold())
    return (False, value, "")
