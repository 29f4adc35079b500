"""Log lines of a run merged by cause: one finding for thousands of lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

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


@dataclass(slots=True)
class _Stream:
    """One log: what its next batch has to know of the ones before.

    Attributes:
        stopping: The engine was told to stop.
        at: Time of its last line that has one.
        traces: Tracebacks that have not ended, by process, with the finding that each belongs to.
        alarms: Number of each process's last line that belongs to a finding, with that finding.
    """

    stopping: bool = False
    at: str = ""
    traces: dict[str, tuple[Trace, Key | None]] = field(default_factory=dict)
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


class LogFindings:
    """What a run's logs say, as they come in.

    Args:
        context: The run as it is now.
        classifier: The rules; those of the package when none is given.
    """

    def __init__(self, context: RunContext, classifier: Classifier | None = None) -> None:
        self._context = context
        self._classifier = classifier or Classifier(rules())
        self._groups = Groups()
        self._streams: dict[tuple[str, str], _Stream] = {}
        self._readings: dict[tuple[str, bool], Reading] = {}

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
        for trace, key in list(stream.traces.values()):
            self._follow(batch, trace, key, 0)
        for item in self._classifier.classify_many(lines):
            self._take(batch, item)
        for key, index in batch.touched.items():
            ref = LineRef(process, first_line_number + index)
            self._groups.last(key, ref, stamp_at(lines, index, stream.at))
        stream.at = stamp_at(lines, len(lines) - 1, stream.at)

    def findings(self) -> tuple[LineFinding, ...]:
        """All findings, the graver first, then in the order in which they came."""
        return self._groups.findings()

    @property
    def unlisted(self) -> Unlisted:
        """Unknown lines of the kinds that are too many to list."""
        return self._groups.unlisted

    def _take(self, batch: _Batch, item: Classified) -> None:
        match = item.match
        if match is None and item.index in batch.traced:
            return
        if match is not None and match.rule.marks:
            batch.stream.stopping = match.rule.marks == "stops"
        starts_trace = START in item.raw
        key = self._parent(batch, item) if match is None and starts_trace else None
        if key is None:
            key = self._known(batch, item, match) if match is not None else self._unknown(batch, item)
        if key is not None:
            batch.touched[key] = item.index
        if starts_trace and item.index not in batch.traced:
            trace = Trace(process_of(item.raw))
            self._follow(batch, trace, key, item.index + 1)
        elif key is not None:
            batch.stream.alarms[process_of(item.raw)] = (batch.first + item.index, key)

    def _known(self, batch: _Batch, item: Classified, match: Match) -> Key | None:
        reading = self._reading(match, batch.stream.stopping)
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
        error = _ERROR.search(item.raw) is not None and not batch.stream.stopping
        level = Level.WARNING if error else Level.INFO
        line = parse_line(item.raw)
        message = shorten(line.message.strip(), LINE_WIDTH)
        key = (batch.node, UNKNOWN, level, masked(message))
        if key in self._groups:
            self._groups.count(key)
            return key
        text = f"A line that is not known to kvtui: {message}"
        finding = self._finding(batch, item, level, UNKNOWN, line.source, text)
        return key if self._groups.add(key, finding) else None

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

    def _reading(self, match: Match, stopping: bool) -> Reading:
        key = (match.rule.code, stopping)
        if key not in self._readings:
            self._readings[key] = match.rule.reading(replace(self._context, stopping=stopping))
        return self._readings[key]

    def _parent(self, batch: _Batch, item: Classified) -> Key | None:
        """The finding that a traceback belongs to: that of its process's lines just before."""
        number, key = batch.stream.alarms.get(process_of(item.raw), (0, None))
        place = number - batch.first
        if key is None or not item.index - _LINKS <= place < item.index:
            return None
        between = batch.lines[max(place + 1, 0) : item.index]
        own = [raw for raw in between if process_of(raw) == process_of(item.raw)]
        return key if all(map(is_link, own)) else None

    def _follow(self, batch: _Batch, trace: Trace, key: Key | None, start: int) -> None:
        followed = follow(trace, batch.lines, start)
        batch.traced |= followed.own
        if key is not None:
            self._groups.detail(key, shorten(followed.exception, LINE_WIDTH))
        if followed.rest is not None:
            batch.stream.traces[trace.process] = (followed.rest, key)
            return
        batch.stream.traces.pop(trace.process, None)
        if followed.own:
            batch.stream.alarms[trace.process] = (batch.first + max(followed.own), key)
