"""Where each part of the form's lines stands, and what it shows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from kvtui.loglines import clean
from kvtui.plan_draft import ON
from screens.widgets.plan.parts import Choice, Field, Line, LineKind, Part, Press, Tick

_LEAST = 3
_TURNS = " ‹›"


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line.

    Attributes:
        x: Its first column.
        text: What stands there, as wide as it is.
        style: Which of the form's styles it has.
        part: The control that it is, or ``None``.
    """

    x: int
    text: str
    style: str
    part: Part | None = None

    @property
    def width(self) -> int:
        """Its columns."""
        return cell_len(self.text)


Spans = tuple[Span, ...]


def drawn(
    lines: Iterable[Line], texts: Mapping[str, str], faults: Mapping[str, str], width: int
) -> tuple[Spans, ...]:
    """The lines of the form as they stand on the screen.

    Args:
        lines: The lines.
        texts: What is typed, by field.
        faults: What is wrong, by field.
        width: Columns that there are.
    """
    return tuple(spans for line in lines for spans in _line(line, texts, faults, width))


def _line(line: Line, texts: Mapping[str, str], faults: Mapping[str, str], width: int) -> Iterator[Spans]:
    if line.kind is LineKind.SECTION:
        yield ()
        yield (Span(0, fitted(line.label, width), "section"),)
    elif line.kind is LineKind.FAULT:
        for text in textwrap.wrap(f"✗ {line.label}", max(_LEAST, width - 2)):
            yield (Span(2, text, "wrong"),)
    else:
        yield tuple(_row(line, texts, faults, width))


def _row(line: Line, texts: Mapping[str, str], faults: Mapping[str, str], width: int) -> Iterator[Span]:
    off = line.kind is LineKind.OFF
    if line.label:
        yield Span(0, fitted(line.label, line.indent), "label")
    x, share = line.indent, _share(line, width)
    for part in line.parts:
        if isinstance(part, Field) and part.before:
            yield Span(x, part.before, "label")
            x += cell_len(part.before) + 1
        own = max(1, min(_own(part) or share, width - x))
        text, style = _shown(part, texts.get(part.name, ""), own)
        style = "off" if off else "wrong" if part.name in faults else style
        yield Span(x, text, style, part)
        x += own + 1
        if isinstance(part, Field) and part.after and x < width:
            after = fitted(part.after, min(cell_len(part.after), width - x))
            yield Span(x, after, "label")
            x += cell_len(after) + 1


def _own(part: Part) -> int:
    """Columns that a part always has, or 0."""
    match part:
        case Tick():
            return 3 + (cell_len(part.label) + 1 if part.label else 0)
        case Press():
            return cell_len(part.label)
        case _:
            return part.width


def _share(line: Line, width: int) -> int:
    """Columns of each part that takes a share of what is left."""
    sharing = [part for part in line.parts if not _own(part)]
    taken = line.indent + len(line.parts) - 1
    for part in line.parts:
        taken += _own(part)
        if isinstance(part, Field):
            taken += sum(cell_len(words) + 1 for words in (part.before, part.after) if words)
    return max(_LEAST, (width - taken) // len(sharing)) if sharing else 0


def _shown(part: Part, text: str, width: int) -> tuple[str, str]:
    match part:
        case Tick():
            box = "[x]" if text == ON else "[ ]"
            return f"{box} {part.label}" if part.label else box, "on" if text == ON else "empty"
        case Press():
            return part.label, "press"
        case Choice():
            room = max(0, width - cell_len(_TURNS))
            return set_cell_size(fitted(clean(text), room).rstrip() + _TURNS, width), "field"
        case Field():
            return (fitted(clean(text), width), "field") if text else (fitted(part.example, width), "example")


def fitted(text: str, width: int) -> str:
    """A text of exactly so many columns; what is left out is marked."""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(text, max(0, width - 1)) + "…"
