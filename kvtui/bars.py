"""Small bars of block characters: pieces of text with the name of what they mean, which a theme colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kvtui.canvas import EIGHTHS
from kvtui.live.view import Point, Sign, TierParts

FULL, EMPTY = "━", "─"
PENDING, MISSING = "·", " "

# Names of meanings, for a theme to give colours to.
COLD, CACHED, LOOKUP, REST = "cold", "cached", "lookup", "rest"
GOOD, WARNING, BAD = "good", "warning", "bad"

_SIGN_STYLES = {
    Sign.GOOD: GOOD,
    Sign.WARNING: WARNING,
    Sign.BAD: BAD,
    Sign.RUNNING: CACHED,
    Sign.WAITING: REST,
}


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a line: its text, and the name of what it means."""

    text: str
    style: str


Line = tuple[Segment, ...]


def sign_style(sign: Sign) -> str:
    """The meaning of a state's sign."""
    return _SIGN_STYLES[sign]


def gauge(share: float | None, width: int, style: str) -> Line:
    """A rate against its ceiling: filled as far as the share goes, at most whole; empty when unknown."""
    width = max(0, width)
    filled = 0 if share is None else round(max(0.0, min(1.0, share)) * width)
    pieces = (Segment(FULL * filled, style), Segment(EMPTY * (width - filled), REST))
    return tuple(piece for piece in pieces if piece.text)


def tier_bar(parts: TierParts, longest_ms: float, width: int) -> Line:
    """The parts of a tier's cached TTFT, one after the other; the glyphs differ too."""
    if longest_ms <= 0 or width <= 0:
        return ()
    pieces, at, drawn = [], 0.0, 0
    for length, glyph, style in (
        (parts.lookup_at_most_ms, "█", LOOKUP),
        (parts.retrieve_ms, "▒", CACHED),
        (parts.rest_ms, "░", REST),
    ):
        at += length or 0.0
        end = min(width, round(at / longest_ms * width))
        if end > drawn:
            pieces.append(Segment(glyph * (end - drawn), style))
            drawn = end
    return tuple(pieces)


@dataclass(frozen=True, slots=True)
class DocumentRows:
    """The documents of a series as rows of equal columns.

    Attributes:
        first: Index of the first point that is shown.
        wide: Columns of each document.
        cold: Its cold TTFT.
        cached: Its cached TTFT, on the same scale.
        signs: A sign where the KV was not reused whole, else nothing.
        speedup: Cold ÷ cached, on a scale of its own.
    """

    first: int
    wide: int
    cold: Line
    cached: Line
    signs: Line
    speedup: Line


def document_rows(points: Sequence[Point], documents: int, width: int, widest: int = 3) -> DocumentRows:
    """The documents in request order; the last ones when not all have room.

    Args:
        points: The documents.
        documents: How many there will be.
        width: Columns.
        widest: Most columns of one document.
    """
    wide = max(1, min(widest, width // max(1, documents, len(points))))
    room = max(0, width // wide)
    first = max(0, len(points) - room)
    shown = points[first:]
    times = [time for point in shown for time in (point.cold_ms, point.cached_ms) if time is not None]
    speedups = [point.speedup for point in shown if point.speedup is not None]
    slowest, best = max(times, default=0.0), max(speedups, default=0.0)
    return DocumentRows(
        first=first,
        wide=wide,
        cold=_joined([_block(point.cold_ms, slowest, COLD) for point in shown], wide),
        cached=_joined([_block(point.cached_ms, slowest, CACHED) for point in shown], wide),
        signs=_joined([_sign(point) for point in shown], wide, once=True),
        speedup=_joined([_block(point.speedup, best, _speedup_style(point)) for point in shown], wide),
    )


def _block(value: float | None, most: float, style: str) -> Segment:
    if value is None or most <= 0:
        return Segment(PENDING, REST)
    return Segment(EIGHTHS[min(7, max(0, round(value / most * 8) - 1))], style)


def _sign(point: Point) -> Segment:
    if point.verdict in ("", "full") or point.sign is Sign.GOOD:
        return Segment(MISSING, REST)
    return Segment(point.sign.value, sign_style(point.sign))


def _speedup_style(point: Point) -> str:
    if point.speedup is not None and point.speedup < 1:
        return WARNING
    return GOOD if point.early else REST


def _joined(pieces: Sequence[Segment], wide: int, *, once: bool = False) -> Line:
    """Neighbours of one meaning as one piece."""
    joined: list[Segment] = []
    for piece in pieces:
        text = piece.text + MISSING * (wide - 1) if once else piece.text * wide
        if joined and joined[-1].style == piece.style:
            joined[-1] = Segment(joined[-1].text + text, piece.style)
        else:
            joined.append(Segment(text, piece.style))
    return tuple(joined)
