"""Cells of a chart, and charts as plain text from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kvtui.palette import Rgb

EIGHTHS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Cell:
    """One character of a chart."""

    glyph: str
    colour: Rgb | None = None
    behind: Rgb | None = None


@dataclass(slots=True)
class Canvas:
    """What is drawn: cells from the lower left corner, and the ticks of both axes.

    Attributes:
        columns: Its width, without the axis.
        rows: Its height, without the axis.
        x_ticks: Label by column.
        y_ticks: Label by row.
        cells: What is drawn, by column and row.
    """

    columns: int
    rows: int
    x_ticks: Mapping[int, str] = field(default_factory=dict)
    y_ticks: Mapping[int, str] = field(default_factory=dict)
    cells: dict[tuple[int, int], Cell] = field(default_factory=dict)

    @property
    def margin(self) -> int:
        """Columns that the labels of the vertical axis take."""
        return max((len(label) for label in self.y_ticks.values()), default=0)

    def put(self, column: int, row: int, cell: Cell) -> None:
        """Draw a cell; what lies outside is not drawn."""
        if 0 <= column < self.columns and 0 <= row < self.rows:
            self.cells[column, row] = cell

    def text(self) -> str:
        """The canvas with its axes, without colours."""
        margin = self.margin
        lines = []
        for row in range(self.rows - 1, -1, -1):
            label = self.y_ticks.get(row, "")
            cells = "".join(
                self.cells[column, row].glyph if (column, row) in self.cells else " "
                for column in range(self.columns)
            )
            lines.append(f"{label:>{margin}}{'┤' if label else '│'}{cells}")
        axis = "".join("┬" if column in self.x_ticks else "─" for column in range(self.columns))
        lines.append(f"{'':{margin}}└{axis}")
        lines.append(" " * (margin + 1) + label_line(self.x_ticks, self.columns))
        return "\n".join(line.rstrip() for line in lines)


def label_line(ticks: Mapping[int, str], columns: int) -> str:
    """The labels of a horizontal axis, each centred below its tick where there is room for it."""
    line = [" "] * columns
    free_from = 0
    for column, label in sorted(ticks.items()):
        start = min(max(0, column - len(label) // 2), max(0, columns - len(label)))
        if start >= free_from and len(label) <= columns:
            line[start : start + len(label)] = label
            free_from = start + len(label) + 1
    return "".join(line)
