"""What a line of the form is made of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Steps:
    """How far a capacity is stepped.

    Attributes:
        smallest: The least that keeps every document.
        limit: The most that the machine can give.
    """

    smallest: float | None = None
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """A field of text.

    Attributes:
        name: Its name in the draft.
        example: What may stand in it, shown while it is empty.
        before: Words before it.
        after: Words after it.
        width: Its columns; 0 for a share of what is left.
        completes: What is typed is completed to a node's name.
        steps: It is a capacity, which ``+`` and ``-`` step.
    """

    name: str
    example: str = ""
    before: str = ""
    after: str = ""
    width: int = 0
    completes: bool = False
    steps: Steps | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few texts.

    Attributes:
        name: Its name in the draft.
        texts: The texts.
        width: Its columns; 0 for a share of what is left.
    """

    name: str
    texts: tuple[str, ...]
    width: int = 0


@dataclass(frozen=True, slots=True)
class Tick:
    """Something that is on or off.

    Attributes:
        name: Its name in the draft.
        label: What it is, or empty.
    """

    name: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Press:
    """Something that is done when it is pressed.

    Attributes:
        name: What is done.
        label: What stands there.
    """

    name: str
    label: str


Part = Field | Choice | Tick | Press


class LineKind(StrEnum):
    """What a line is for."""

    ROW = "row"
    OFF = "off"  # a row of what is switched off
    SECTION = "section"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the form.

    Attributes:
        label: What stands at its left; a fault's or a section's whole text.
        parts: Controls.
        kind: What it is for.
        indent: Columns of the label.
    """

    label: str
    parts: tuple[Part, ...] = ()
    kind: LineKind = LineKind.ROW
    indent: int = 11


def row(label: str, *parts: Part) -> Line:
    """A row: a label and its controls."""
    return Line(label, parts)


def section(title: str) -> Line:
    """The title of a section."""
    return Line(title, kind=LineKind.SECTION)


def fault(text: str) -> Line:
    """Why something above it is wrong."""
    return Line(text, kind=LineKind.FAULT)
