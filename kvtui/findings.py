"""A finding: something that a person should know about a plan or a run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Level(StrEnum):
    """How much a finding matters; a blocking one stops the run."""

    BLOCKING = "blocking"
    WARNING = "warning"
    INFO = "info"


SIGNS = {Level.BLOCKING: "✗", Level.WARNING: "!", Level.INFO: "i"}


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found, where, and what to do.

    Attributes:
        level: How much it matters.
        code: Stable name of this kind of finding.
        text: One sentence with its figures.
        remedy: What to do about it, or empty.
        where: Tier, topology or node that it is about.
    """

    level: Level
    code: str
    text: str
    remedy: str = ""
    where: str = ""

    def to_json(self) -> dict[str, Any]:
        """The finding as a JSON object."""
        return asdict(self)

    def line(self) -> str:
        """The finding on one line for the terminal."""
        where = f"{self.where}: " if self.where else ""
        return f"{SIGNS[self.level]} {where}{self.text} {self.remedy}".rstrip()


def from_json(data: dict[str, Any]) -> Finding:
    """A finding from its JSON object."""
    return Finding(Level(data["level"]), data["code"], data["text"], data["remedy"], data["where"])
