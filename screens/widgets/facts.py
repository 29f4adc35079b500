"""Facts by name: a grid whose long lines wrap below themselves."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text
from textual.app import App

from kvtui.loglines import clean


def facts_grid(app: App[object], lines: Iterable[tuple[str, str]]) -> Table:
    """Names on the left, muted, and what is known of each."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, style=app.theme_variables["muted"])
    grid.add_column(overflow="fold")
    for name, text in lines:
        grid.add_row(Text(clean(name)), Text(clean(text)))
    return grid
