"""Log lines of a run merged by cause: one finding for thousands of lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from kvtui.findings import Level
from kvtui.loglines import clean, parse_line, shorten
from kvtui.rules.classify import Classifier
from kvtui.rules.context import RunContext
from kvtui.rules.finding import LineFinding, LineRef, Unlisted
from kvtui.rules.groups import UNKNOWN, Groups, Key, masked
from kvtui.rules.model import Classified, Match, Quiet, Reading
from kvtui.rules.stamps import stamp_at
from kvtui.rules.table import rules
from kvtui.rules.traces import START, Trace, follow, is_link, process_of

LINE_WIDTH = 400
_ERROR = re.compile(r"(?:^|\) |LMCache |Z +)(?:ERROR|CRITICAL)[: ]|Traceback \(most recent call last\)")
_LINKS = 4
_HEAD = 200


@dataclass(frozen=True, slots=True)
class _Open:
    """A traceback that has not ended.

    Attributes:
        trace: How far it is.
        key: The finding that it belongs to, if any.
        orphan: Its first line as a finding, when no line before it says what happened.
    """

    trace: Trace
    key: Key | None
    orphan: LineFinding | None


@dataclass(slots=True)
class _Stream:
    """One log: what its next batch has to know of the ones before.

    Attributes:
        stopping: The engine was told to stop.
        version: Release of LMCache by its own line.
        at: Time of its last line that has one.
        tail: Its last few lines.
        traces: Tracebacks that have not ended, by process.
        alarms: Number of each process's last line that says what happened, with its finding if it is one.
    """

    stopping: bool = False
    version: str | None = None
    at: str = ""
    tail: tuple[str, ...] = ()
    traces: dict[str, _Open] = field(default_factory=dict)
    alarms: dict[str, tuple[int, Key | None]] = field(default_factory=dict)


@dataclass(slots=True)
class _Batch:
    node: str
    process: str
    first: int
    lines: Sequence[str]
    stream: _Stream
    traced: set[int] = field(default_factory=set)
    touched: dict[Key, int] = field(default_factory=dict)


@cache
def _packaged() -> Classifier:
    return Classifier(rules())


def _mark(stream: _Stream, match: Match) -> None:
    if match.rule.marks == "version":
        stream.version = match.figures["version"]
    else:
        stream.stopping = match.rule.marks == "stops"


class LogFindings:
    """What a run's logs say, as they come in.

    Args:
        context: The run as it is now.
        classifier: The rules; those of the package when none is given.
    """

    def __init__(self, context: RunContext, classifier: Classifier | None = None) -> None:
        self._context = context
        self._classifier = classifier or _packaged()
        self._groups = Groups()
        self._streams: dict[tuple[str, str], _Stream] = {}
        self._readings: dict[tuple[str, bool, str | None], Reading] = {}

    def set_context(self, context: RunContext) -> None:
        """What comes from now on is read in this context: another tier, another pass."""
        self._context = context
        self._readings.clear()

    def feed(self, node: str, process: str, first_line_number: int, lines: Sequence[str]) -> None:
        """Take the next lines of a log, whole ones, in its order."""
        if not lines:
            return
        stream = self._streams.setdefault((node, process), _Stream())
        batch = _Batch(node, process, first_line_number, lines, stream)
        for opened in list(stream.traces.values()):
            self._follow(batch, opened, 0)
        for item in self._classifier.classify_many(lines):
            self._take(batch, item)
        for key, index in batch.touched.items():
            ref = LineRef(process, first_line_number + index)
            self._groups.last(key, ref, stamp_at(lines, index, stream.at))
        stream.at = stamp_at(lines, len(lines) - 1, stream.at)
        stream.tail = (*stream.tail, *lines[-_LINKS:])[-_LINKS:]

    def findings(self) -> tuple[LineFinding, ...]:
        """All findings, the graver first, then in the order in which they came."""
        opened = (one.orphan for stream in self._streams.values() for one in stream.traces.values())
        return self._groups.findings(one for one in opened if one is not None)

    @property
    def unlisted(self) -> Unlisted:
        """Unknown lines of the kinds that are too many to list."""
        return self._groups.unlisted

    def _take(self, batch: _Batch, item: Classified) -> None:
        match, stream = item.match, batch.stream
        process = process_of(item.raw)
        if match is None and item.index in batch.traced:
            return
        if match is None and START in item.raw:
            told, key = self._told(batch, item)
            self._touch(batch, key, item.index)
            orphan = None if told else self._orphan(batch, item)
            self._follow(batch, _Open(Trace(process), key, orphan), item.index + 1)
            return
        if match is not None and match.rule.marks:
            _mark(stream, match)
        key = self._known(batch, item, match) if match is not None else self._unknown(batch, item)
        self._touch(batch, key, item.index)
        stream.alarms[process] = (batch.first + item.index, key)
        if START in item.raw:
            self._follow(batch, _Open(Trace(process), key, None), item.index + 1)

    def _touch(self, batch: _Batch, key: Key | None, index: int) -> None:
        if key is not None:
            batch.touched[key] = index

    def _known(self, batch: _Batch, item: Classified, match: Match) -> Key | None:
        reading = self._reading(match, batch.stream)
        if isinstance(reading.level, Quiet):
            return None
        rule = match.rule
        key = (batch.node, rule.cause, reading.level, self._context.tier)
        root = rule.cause == rule.code
        if key in self._groups and not (root and self._groups.needs_root(key)):
            self._groups.count(key)
            return key
        finding = self._finding(batch, item, reading.level, rule.cause, rule.component, match.text(reading))
        self._groups.add(key, replace(finding, remedy=reading.remedy, command=reading.command), root)
        return key

    def _unknown(self, batch: _Batch, item: Classified) -> Key | None:
        line = parse_line(item.raw)
        message = shorten(line.message.strip(), LINE_WIDTH)
        level = self._unknown_level(batch, error=_ERROR.search(item.raw, 0, _HEAD) is not None)
        key = (batch.node, UNKNOWN, level, masked(message))
        if key in self._groups:
            self._groups.count(key)
            return key
        text = f"A line that is not known to kvtui: {message}"
        finding = self._finding(batch, item, level, UNKNOWN, line.source, text)
        return key if self._groups.add(key, finding) else None

    def _unknown_level(self, batch: _Batch, error: bool) -> Level:
        return Level.WARNING if error and not batch.stream.stopping else Level.INFO

    def _orphan(self, batch: _Batch, item: Classified) -> LineFinding:
        level = self._unknown_level(batch, error=True)
        return self._finding(batch, item, level, UNKNOWN, "python", "A traceback that has not ended.")

    def _finding(
        self, batch: _Batch, item: Classified, level: Level, code: str, component: str, text: str
    ) -> LineFinding:
        ref = LineRef(batch.process, batch.first + item.index)
        at = stamp_at(batch.lines, item.index, batch.stream.at)
        return LineFinding(
            code=code,
            level=level,
            node=batch.node,
            component=component,
            tier=self._context.tier,
            text=text,
            remedy="",
            command="",
            count=1,
            first_at=at,
            last_at=at,
            first=ref,
            last=ref,
            line=shorten(clean(item.raw), LINE_WIDTH),
        )

    def _reading(self, match: Match, stream: _Stream) -> Reading:
        key = (match.rule.code, stream.stopping, stream.version)
        if key not in self._readings:
            context = self._context
            self._readings[key] = match.rule.reading(
                replace(
                    context,
                    stopping=context.stopping or stream.stopping,
                    lmcache_version=stream.version or context.lmcache_version,
                )
            )
        return self._readings[key]

    def _told(self, batch: _Batch, item: Classified) -> tuple[bool, Key | None]:
        """Whether the lines just before a traceback say what happened, and their finding if they are one."""
        process, stream = process_of(item.raw), batch.stream
        number, key = stream.alarms.get(process, (0, None))
        place = number - batch.first
        if number == 0 or not item.index - _LINKS <= place < item.index:
            return False, None
        earlier = stream.tail[place + 1 :] if place < -1 else ()
        between = (*earlier, *batch.lines[max(place + 1, 0) : item.index])
        return all(is_link(raw) for raw in between if process_of(raw) == process), key

    def _follow(self, batch: _Batch, opened: _Open, start: int) -> None:
        followed = follow(opened.trace, batch.lines, start)
        batch.traced |= followed.own
        process, key = opened.trace.process, opened.key
        if followed.rest is not None:
            batch.stream.traces[process] = replace(opened, trace=followed.rest)
            return
        batch.stream.traces.pop(process, None)
        exception = shorten(followed.exception, LINE_WIDTH)
        if opened.orphan is not None:
            key = self._adopt(opened.orphan, exception)
        elif key is not None:
            self._groups.detail(key, exception)
        if followed.own:
            batch.stream.alarms[process] = (batch.first + max(followed.own), key)

    def _adopt(self, orphan: LineFinding, exception: str) -> Key | None:
        """A traceback alone is a finding of its own, unless a rule knows what was raised."""
        if self._classifier.classify(parse_line(exception)) is not None:
            return None
        key = (orphan.node, UNKNOWN, orphan.level, masked(exception))
        if key in self._groups:
            self._groups.count(key)
            return key
        text = f"An exception that is not known to kvtui: {exception or 'its line is missing'}"
        return key if self._groups.add(key, replace(orphan, text=text)) else None
