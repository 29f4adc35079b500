"""Findings one below the other: sign, where, what, and what to do, muted."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text
from textual.app import App

from kvtui.findings import SIGNS, Finding
from kvtui.loglines import clean
from screens.signs import sign_text


def findings_grid(app: App[object], findings: Iterable[Finding]) -> Table:
    """A row a finding, its remedy below it."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    muted = app.theme_variables["muted"]
    for finding in findings:
        where = f"{finding.where}: " if finding.where else ""
        text = Text(clean(f"{where}{finding.text}"))
        if finding.remedy:
            text.append("\n" + clean(finding.remedy), style=muted)
        grid.add_row(sign_text(app, SIGNS[finding.level]), text)
    return grid
