"""Tracebacks: many lines that say one thing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kvtui.loglines import clean, parse_line

START = "Traceback (most recent call last)"
# Python's words between two chained tracebacks.
_LINKS = ("During handling of the above exception", "The above exception was the direct cause")
# multiprocessing's own line before the traceback of a process that ends.
_ENDING = re.compile(r"Process \S+:$")
_PROCESS = re.compile(r"^\([\w.:-]+ pid=\d+\)")
_LONGEST = 2_000
_WIDTH = 4_000


@dataclass(frozen=True, slots=True)
class Trace:
    """A traceback that goes on.

    Attributes:
        process: Prefix of the process that writes it.
        lines: Lines of it so far.
    """

    process: str
    lines: int = 0


@dataclass(frozen=True, slots=True)
class Followed:
    """How far a traceback reached in a batch.

    Attributes:
        own: Places of its lines, the exception's included.
        exception: What was raised, or empty.
        rest: The traceback if the batch ended before it did.
    """

    own: frozenset[int]
    exception: str
    rest: Trace | None


def process_of(raw: str) -> str:
    """``(EngineCore pid=9)`` at a line's start, or empty."""
    found = _PROCESS.match(raw)
    return found[0] if found else ""


def follow(trace: Trace, lines: Sequence[str], start: int) -> Followed:
    """Walk over the lines of a traceback from ``start``; other processes may write between them."""
    own: set[int] = set()
    for index in range(start, len(lines)):
        raw = lines[index][:_WIDTH]
        if process_of(raw) != trace.process:
            continue
        line = parse_line(raw)
        message = line.message
        own.add(index)
        if line.text.strip() and not _inside(message):
            return Followed(frozenset(own), clean(message).strip(), None)
        if trace.lines + len(own) > _LONGEST:
            return Followed(frozenset(own), "", None)
    return Followed(frozenset(own), "", Trace(trace.process, trace.lines + len(own)))


def is_link(raw: str) -> bool:
    """Whether a line only leads over to a traceback: Python's words, or nothing."""
    message = parse_line(raw[:_WIDTH]).message.strip()
    return not message or message.startswith(_LINKS) or _ENDING.match(message) is not None


def _inside(message: str) -> bool:
    return not message.strip() or message[0].isspace() or START in message or message.startswith(_LINKS)
