"""States by sign and colour: the sign alone must be enough."""

from __future__ import annotations

from rich.text import Text
from textual.app import App

COLOURS = {"✓": "success", "●": "success", "!": "warning", "◐": "warning", "✗": "error", "i": "primary"}


def sign_text(app: App[object], sign: str) -> Text:
    """A sign in the colour of its state."""
    variables = app.theme_variables
    return Text(sign, style=variables[COLOURS[sign]] if sign in COLOURS else variables["muted"])
