"""Makes ceilings of what a node's agent measured."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any, get_args

from kvtui.ceilings import Ceiling, What
from kvtui.loglines import clean

_MOST_TEXT = 300
_WHATS: tuple[What, ...] = get_args(What)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A way that could not be measured.

    Attributes:
        how: The way, in words.
        why: The reason, one sentence.
    """

    node: str
    what: str
    how: str
    why: str


def ceilings_of(
    node: str, answer: Mapping[str, Any], chunk_bytes: int, target: str, measured_wall_s: float
) -> tuple[Ceiling, ...]:
    """The ceilings in an agent's answer; a way without a rate above 0 is left out.

    Args:
        node: The node that measured.
        answer: What its agent answered.
        chunk_bytes: Bytes of each file, value or copy.
        target: The directory or ``host:port``.
        measured_wall_s: When.
    """

    def made() -> Iterator[Ceiling]:
        for way in _objects(answer.get("ways")):
            what = next((known for known in _WHATS if known == way.get("what")), None)
            rates = _rates(way.get("bytes_s"))
            if what is None or not rates:
                continue
            yield Ceiling(
                node=node,
                what=what,
                how=_text(way.get("how")),
                bytes_s=median(rates),
                low_bytes_s=min(rates),
                high_bytes_s=max(rates),
                repeats=len(rates),
                chunk_bytes=chunk_bytes,
                threads=threads if isinstance(threads := way.get("threads"), int) else 0,
                tool=_text(way.get("tool")),
                target=target,
                measured_wall_s=measured_wall_s,
            )

    return tuple(made())


def skipped_of(node: str, answer: Mapping[str, Any]) -> tuple[Skipped, ...]:
    """The ways that an agent's answer says could not be measured."""
    return tuple(
        Skipped(node, _text(way.get("what")), _text(way.get("how")), _text(way.get("why")))
        for way in _objects(answer.get("skipped"))
    )


def ways_skipped(what: What, how: str, why: str) -> dict[str, Any]:
    """An answer of nothing but a reason, for a way that no agent could be asked for."""
    return {"skipped": [{"what": what, "how": how, "why": why}]}


def _objects(rows: object) -> list[dict[str, Any]]:
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _rates(values: object) -> list[float]:
    numbers = (
        [value for value in values if isinstance(value, int | float)] if isinstance(values, list) else []
    )
    return [float(number) for number in numbers if 0 < number < math.inf]


def _text(value: object) -> str:
    return " ".join(clean(str(value or "")).split())[:_MOST_TEXT]
