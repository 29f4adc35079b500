"""One check in full: what was measured on each node, what it means, what to do."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text
from textual.app import App

from kvtui.loglines import clean
from kvtui.preflight import SIGNS, CheckRow
from screens.signs import sign_text


def detail_grid(app: App[object], rows: Iterable[CheckRow]) -> Table:
    """A row a node; below it the finding, its remedy and the fix."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    colours = app.theme_variables
    for row in rows:
        node = f"{row.node}  " if row.node else ""
        text = Text(clean(f"{node}{row.measured}"))
        if row.finding is not None:
            text.append("\n" + clean(row.finding.text))
            if row.finding.remedy:
                text.append("\n" + clean(row.finding.remedy), style=colours["muted"])
        if row.fix:
            text.append("\nf  ", style=colours["accent"])
            text.append(clean(row.fix))
        grid.add_row(sign_text(app, SIGNS[row.state]), text)
    return grid
