"""A chart's terminal colours as styles: only what the charts write, since this is done at every drawing."""

from __future__ import annotations

import re
from functools import lru_cache

from textual.color import Color
from textual.content import Content, Span
from textual.style import Style

_COLOUR = re.compile(r"\x1b\[([0-9;]*)m")
_FRONT, _BEHIND, _TRUE = "38", "48", "2"


@lru_cache(maxsize=64)
def _style(codes: str) -> Style:
    """The style of one escape; what is no colour of 24 bits is none."""
    style, parts = Style.null(), codes.split(";")
    while len(parts) >= 5 and parts[0] in (_FRONT, _BEHIND) and parts[1] == _TRUE:
        red, green, blue = (min(255, int(part or 0)) for part in parts[2:5])
        colour = Color(red, green, blue)
        style += Style(foreground=colour) if parts[0] == _FRONT else Style(background=colour)
        parts = parts[5:]
    return style


def from_ansi(chart: str) -> Content:
    """The chart's text with a span for each run of one colour.

    An escape replaces the one before it, and a line's end nothing.
    """
    texts: list[str] = []
    spans: list[Span] = []
    at, codes = 0, ""
    for place, piece in enumerate(_COLOUR.split(chart)):
        if place % 2:
            codes = "" if piece in ("", "0") else piece
        elif piece:
            texts.append(piece)
            if codes and not piece.isspace():
                spans.append(Span(at, at + len(piece), _style(codes)))
            at += len(piece)
    return Content("".join(texts), spans)
