"""The last lines of every log, and what LMCache says in them of each request."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice

from kvtui.attribution import Evidence, EvidenceBook
from kvtui.live.told import LogHead, LogRow
from kvtui.loglines import Lookup, figures, parse_line

KEPT_LINES = 5_000
# The whole line stays in the file; a line without an end must not fill the memory.
LINE_CHARS = 4_000
_KEPT_REQUESTS = 5_000
_LINES_A_REQUEST = 40
_WARNING_LEVELS = frozenset({"WARN", "WARNING", "ERROR", "CRITICAL"})
_ALARMS = ("WARN", "ERROR", "CRITICAL")
_STAMP = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] LMCache ")


@dataclass(slots=True)
class _Log:
    """One log; its newest lines, as they came."""

    last: int = 0
    lines: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=KEPT_LINES))
    warnings: deque[int] = field(default_factory=deque)


@dataclass(slots=True)
class RequestLog:
    """What a log has of one request.

    Attributes:
        lines: Some of its lines, the first ones.
        lookup_stamp: When its first lookup had answered, as LMCache stamped it, or empty.
        evidence: What the lines said so far.
    """

    lines: list[LogRow] = field(default_factory=list)
    lookup_stamp: str = ""
    evidence: Evidence = field(default_factory=Evidence)


def row(number: int, text: str) -> LogRow:
    """A line as a person may see it."""
    line = parse_line(text)
    return LogRow(number, line.text, line.level)


def _is_warning(text: str) -> bool:
    return any(word in text for word in _ALARMS) and parse_line(text).level in _WARNING_LEVELS


class Logs:
    """All logs of a run."""

    def __init__(self) -> None:
        self._logs: dict[tuple[str, str], _Log] = {}
        self._requests: dict[str, RequestLog] = {}
        self._books: dict[tuple[str, str], EvidenceBook] = {}

    def last(self, node: str, process: str) -> int:
        """Number of the last line that was fed; 0 before the first."""
        log = self._logs.get((node, process))
        return log.last if log else 0

    def feed(self, node: str, process: str, first_line: int, lines: Sequence[str]) -> set[str]:
        """Take lines of a log that follow on those before.

        Returns:
            Ids of the requests that the lines told something of.
        """
        log = self._logs.setdefault((node, process), _Log())
        book = self._books.setdefault((node, process), EvidenceBook())
        told = set(self._figures(book, first_line, lines))
        log.last = max(log.last, first_line + len(lines) - 1)
        kept_from = max(0, len(lines) - KEPT_LINES)
        for number, text in enumerate(lines[kept_from:], first_line + kept_from):
            text = text[:LINE_CHARS]
            log.lines.append((number, text))
            if _is_warning(text):
                log.warnings.append(number)
        while log.warnings and log.warnings[0] < log.lines[0][0]:
            log.warnings.popleft()
        return told

    def _figures(self, book: EvidenceBook, start: int, lines: Sequence[str]) -> Iterator[str]:
        for number, raw in enumerate(lines, start):
            if "[req_id=" not in raw and "Reqid: " not in raw and "KV load failure" not in raw:
                continue
            line = parse_line(raw[:LINE_CHARS])
            found = figures(line)
            if found is None:
                continue
            request_id = book.take(found)
            if not request_id:
                continue
            kept = self._requests.setdefault(request_id, RequestLog())
            kept.evidence = book.found[request_id]
            if len(kept.lines) < _LINES_A_REQUEST:
                kept.lines.append(LogRow(number, line.text, line.level))
            if isinstance(found, Lookup) and not kept.lookup_stamp:
                stamp = _STAMP.search(line.text)
                kept.lookup_stamp = stamp[1] if stamp else ""
            while len(self._requests) > _KEPT_REQUESTS:
                oldest = next(iter(self._requests))
                del self._requests[oldest]
                book.forget(oldest)
            yield request_id

    def request(self, request_id: str) -> RequestLog:
        """What is kept of a request."""
        return self._requests.get(request_id, RequestLog())

    def heads(self) -> tuple[LogHead, ...]:
        """Every log that was fed."""
        return tuple(
            LogHead(node, process, log.last, len(log.lines), len(log.warnings))
            for (node, process), log in sorted(self._logs.items())
        )

    def rows(self, node: str, process: str, after: int = 0, most: int | None = None) -> tuple[LogRow, ...]:
        """The kept lines of a log behind a line number, so many at most."""
        log = self._logs.get((node, process))
        if log is None or not log.lines:
            return ()
        skip = max(0, after + 1 - log.lines[0][0])
        return tuple(
            row(number, text)
            for number, text in islice(log.lines, skip, None if most is None else skip + most)
        )

    def next_warning(self, node: str, process: str, after: int) -> int | None:
        """Number of the next line of level WARNING or above behind a line number, or ``None``."""
        log = self._logs.get((node, process))
        return next((number for number in log.warnings if number > after), None) if log else None


def stamp_wall_s(stamp: str, sent_wall_s: float, within_s: float) -> float | None:
    """Clock time of a stamp of LMCache, which is in the node's own time zone and does not name it.

    The zone is a whole number of quarters of an hour, and the stamp must lie within a span after the request
    was sent: at most one zone fits.
    """
    try:
        naive = datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
    zone_s = round((naive - sent_wall_s - within_s / 2) / 900) * 900
    wall_s = naive - zone_s
    return wall_s if abs(zone_s) <= 14 * 3600 and 0 <= wall_s - sent_wall_s <= within_s else None
