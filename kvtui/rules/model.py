"""A rule: which line it knows, and what that line means, by the run it stands in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kvtui.findings import Level
from kvtui.loglines import clean, shorten
from kvtui.rules.context import Condition, RunContext

CAPTURE_WIDTH = 120


class Quiet(StrEnum):
    """Lines that are never a finding."""

    OK = "ok"
    """News of the normal course."""
    BENIGN = "benign"
    """Looks alarming and is normal."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a line means, and what to do.

    Attributes:
        level: How much it matters; a ``Quiet`` one is no finding.
        means: One sentence for an operator; ``{name}`` stands for a figure of the line.
        remedy: What to do, or empty.
        command: A command to copy, or empty. It never holds text of a log.
    """

    level: Level | Quiet
    means: str
    remedy: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of line.

    Attributes:
        code: Stable name.
        component: Which part speaks: ``dram``, ``disk``, ``remote``, ``hash``, ``vllm`` and so on.
        has: Texts of which the line holds one.
        match: What the line must match besides, with its figures as named groups; ``None`` if nothing.
        readings: What it means by condition; the first that holds counts, the last one always does.
        cause: Code under which it is merged: its own, or the one that it follows from.
        marks: ``starts``, ``stops`` or ``version`` if the engine says so of itself with this line.
        example: A line's message that this rule, and no other, claims.
    """

    code: str
    component: str
    has: tuple[str, ...]
    match: re.Pattern[str] | None
    readings: tuple[tuple[Condition, Reading], ...]
    cause: str
    marks: str
    example: str

    def reading(self, context: RunContext) -> Reading:
        """What the line means in this run."""
        return next(reading for condition, reading in self.readings if condition.holds(context))

    @property
    def silent(self) -> bool:
        """Whether no run makes anything of it."""
        return not self.marks and all(isinstance(reading.level, Quiet) for _, reading in self.readings)


@dataclass(frozen=True, slots=True)
class Match:
    """A line that a rule knows.

    Attributes:
        rule: The rule.
        found: Where the rule's pattern matched, if it has one.
    """

    rule: Rule
    found: re.Match[str] | None

    @property
    def figures(self) -> Mapping[str, str | None]:
        """What the line says where the rule looks, as it stands there."""
        return self.found.groupdict() if self.found else {}

    def text(self, reading: Reading) -> str:
        """What the line means, with its figures, harmless to show."""
        shown = {
            name: shorten(clean(value).strip(), CAPTURE_WIDTH) if value else "–"
            for name, value in self.figures.items()
        }
        return reading.means.format_map(shown)


@dataclass(frozen=True, slots=True)
class Classified:
    """A line of a batch that matters.

    Attributes:
        index: Its place in the batch, from 0.
        raw: The line as it came, an endless one cut.
        match: What is known of it; ``None`` for a warning or an error that no rule knows.
    """

    index: int
    raw: str
    match: Match | None
