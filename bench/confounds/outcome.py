"""What came of a campaign: which findings it has, and whether they are the demanded ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.redact import redact
from kvtui.findings import Finding, Level


@dataclass(frozen=True, slots=True)
class Seen:
    """A finding that kvtui showed.

    Attributes:
        level: How much it matters.
        code: Its code.
        where: What it is about.
        text: What it says.
        shown: Where it was shown: ``check`` before the run, ``result``, ``live``.
    """

    level: str
    code: str
    where: str
    text: str
    shown: tuple[str, ...]

    @property
    def above_info(self) -> bool:
        """Whether it says that something is wrong."""
        return self.level != Level.INFO


def seen(shown: Iterable[tuple[str, Sequence[Finding]]], names: Mapping[str, str]) -> tuple[Seen, ...]:
    """Each finding once, with where it was shown.

    Args:
        shown: The findings, by where.
        names: What of this machine to replace in their texts.
    """
    places: dict[tuple[str, str, str, str], list[str]] = {}
    for place, findings in shown:
        for one in findings:
            at = places.setdefault((str(one.level), one.code, one.where, redact(one.text, names)), [])
            if place not in at:
                at.append(place)
    return tuple(Seen(*what, tuple(at)) for what, at in places.items())


@dataclass(frozen=True, slots=True)
class Outcome:
    """One campaign.

    Attributes:
        plant: What was planted; empty where nothing was.
        campaign: Name of its plan.
        round: Which time, from 1.
        commit: State of kvtui.
        date: Day.
        seconds: What it took.
        exit_code: Exit code of kvtui.
        fault: Why the plant could not be planted, or empty.
        seen: All findings.
    """

    plant: str
    campaign: str
    round: int
    commit: str
    date: str
    seconds: float
    exit_code: int
    fault: str
    seen: tuple[Seen, ...]

    @property
    def key(self) -> tuple[str, str, int]:
        """What was done, and which time."""
        return self.plant, self.campaign, self.round

    @property
    def codes(self) -> frozenset[str]:
        """Codes of the findings above info."""
        return frozenset(one.code for one in self.seen if one.above_info)

    def detects(self, demands: Iterable[str]) -> bool:
        """Whether it was planted, and every demanded finding is there."""
        return not self.fault and self.codes >= set(demands)


def outcome_from(data: dict[str, Any]) -> Outcome:
    """An outcome from its JSON object."""
    found = tuple(Seen(**{**one, "shown": tuple(one["shown"])}) for one in data["seen"])
    return Outcome(**{**data, "seen": found})


def read(path: Path) -> list[Outcome]:
    """The outcomes that are recorded."""
    if not path.exists():
        return []
    return [outcome_from(data) for data in json.loads(path.read_text(encoding="utf-8"))]


def write(path: Path, outcomes: Iterable[Outcome]) -> None:
    """Record outcomes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps([asdict(one) for one in outcomes], indent=1) + "\n", encoding="utf-8")
    part.replace(path)
