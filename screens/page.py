"""A document laid out for a terminal: lines that fit, chunk borders in them, and nothing a terminal obeys.

A character of the text is a character of the page, so that a border stands where the tokenizer put it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from rich.cells import get_character_cell_size

BORDER = "┃"
"""Stands between two chunks."""

_TAB, _UNSEEN = " ", "·"
# All of these take one cell, which makes most lines quick to measure.
_NARROW = re.compile("[ -~\xa0-\u02ff‐-›␀-␡┃·]*")
_HOSTILE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u180e"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
)


@dataclass(frozen=True, slots=True)
class PageLine:
    """A line of a page.

    Attributes:
        text: What is seen.
        borders: Where in it a chunk border stands.
        chunk: Number of the chunk that it begins with, or that begins in it; ``None`` where borders are not
            known, or behind the last whole chunk.
        sent: A run sends it.
        rule: It is no line of the document: what a run sends ends here.
    """

    text: str
    borders: tuple[int, ...] = ()
    chunk: int | None = None
    sent: bool = True
    rule: bool = False


def harmless(text: str) -> str:
    """The text with a sign for each control, bidi mark and unseen character; its line ends stay."""
    return _HOSTILE.sub(_sign, text)


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if match[0] == "\t":
        return _TAB
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else _UNSEEN


def layout(
    text: str, width: int, chunk_ends: Sequence[int] = (), first_chunk: int = 1, sent: int | None = None
) -> list[PageLine]:
    """The lines of a document.

    Args:
        text: The document.
        width: Cells of a line.
        chunk_ends: The characters after which a chunk ends, rising.
        first_chunk: Number of the chunk in which the text begins.
        sent: How many characters a run sends; ``None`` where that is not known.
    """
    if sent is None or sent >= len(text):
        return list(_lines(text, width, chunk_ends, first_chunk))
    lines = list(_lines(text[:sent], width, chunk_ends, first_chunk))
    lines.append(PageLine("", rule=True))
    lines += (PageLine(line.text, sent=False) for line in _lines(text[sent:], width, (), 0))
    return lines


def _lines(text: str, width: int, chunk_ends: Sequence[int], first_chunk: int) -> Iterator[PageLine]:
    shown, marks = _marked(harmless(text.replace("\r\n", " \n")), chunk_ends)
    last = first_chunk + len(chunk_ends)
    before = 0
    for start, end in _rows(shown, max(width, 1)):
        at, to = bisect_left(marks, start), bisect_right(marks, end - 1)
        here = tuple(mark - start for mark in marks[at:to])
        chunk = first_chunk + to
        fresh = bool(chunk_ends) and chunk != before
        before = chunk
        yield PageLine(shown[start:end], here, chunk if fresh and chunk < last else None)


def _marked(text: str, chunk_ends: Sequence[int]) -> tuple[str, list[int]]:
    """The text with a border after each chunk, and where the borders are."""
    parts: list[str] = []
    marks, at = [], 0
    for number, end in enumerate(chunk_ends):
        parts += (text[at:end], BORDER)
        marks.append(end + number)
        at = max(end, at)
    return "".join((*parts, text[at:])), marks


def _rows(text: str, width: int) -> Iterator[tuple[int, int]]:
    """Start and end of each row: cut at line ends; a long line at a blank, or anywhere if it has none."""
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if end == len(text) == start and start:
            return
        while (fit := _fitting(text, start, end, width)) < end:
            blank = fit if text[fit] == " " else text.rfind(" ", start, fit)
            if blank > start:
                yield start, blank
                start = blank + 1
            else:
                yield start, fit
                start = fit
        yield start, end
        start = end + 1


def _fitting(text: str, start: int, end: int, width: int) -> int:
    """How far a row from ``start`` goes; it takes one character at least."""
    match = _NARROW.match(text, start, min(end, start + width + 1))
    narrow = match.end() if match else start
    if narrow - start >= width:
        return min(start + width, end)
    if narrow == end:
        return end
    cells, at = narrow - start, narrow
    while at < end:
        cells += get_character_cell_size(text[at])
        # Marks that take no cell could go on without end.
        if cells > width or at - start >= 4 * width:
            return max(at, start + 1)
        at += 1
    return end


def ids_as_text(token_ids: Sequence[int], chunk_tokens: int) -> tuple[str, tuple[int, ...]]:
    """Token ids to read, and the characters after which each whole chunk ends."""
    parts = [
        " ".join(map(str, token_ids[start : start + chunk_tokens])) + "\n"
        for start in range(0, len(token_ids), chunk_tokens)
    ]
    ends = tuple(accumulate(map(len, parts)))
    return "".join(parts), ends[: len(token_ids) // chunk_tokens]
