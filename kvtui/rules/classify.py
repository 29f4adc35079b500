"""Which rule knows a line, fast enough for a flood.

One automaton finds every rule's text in a batch at once; only lines that hold one are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from ahocorasick_rs import BytesAhoCorasick, Implementation, MatchKind

from kvtui.loglines import LogLine, clean
from kvtui.rules.model import Classified, Match, Quiet, Rule

# What a line holds that may be a warning, an error or a traceback, known or not.
_ALARMS = ("WARN", "ERROR", "CRITICAL", "Traceback (most recent call last)")
# The level stands before the message: at the line's start, after the process, or after LMCache's or glide's
# time. glide 2.5 writes WARN.
_ALARM = re.compile(
    r"(?:^|\) |LMCache |Z +)(?:WARN|WARNING|ERROR|CRITICAL)[: ]"
    r"|(?:^|\) |\] )Traceback \(most recent call last\)"
)
_HEAD = 200
# No rule looks further into a line: one of megabytes costs no more than this.
_WIDTH = 4_000
# Above every rule's number, so that an alarm counts only when no rule claims its line.
_ALARM_NUMBER = 1_000_000


class Classifier:
    """Knows the rules, and finds the lines that matter."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        self._silent = tuple(rule.silent for rule in self._rules)
        # News of the normal course never stands in a line that matters.
        self._some = _Finder(
            self._rules, lambda rule: rule.readings[-1][1].level is not Quiet.OK or rule.marks != ""
        )

    @cached_property
    def _all(self) -> _Finder:
        return _Finder(self._rules, lambda rule: True)

    def classify(self, line: LogLine) -> Match | None:
        """What is known of a line, the quiet rules included."""
        text = line.text[:_WIDTH]
        for number in self._all.in_text(text):
            if (match := self._claim(number, text)) is not None:
                return match
        return None

    def classify_many(self, lines: Sequence[str]) -> list[Classified]:
        """The lines that matter, in their order: known ones that may be findings, and unknown alarms."""
        read = (
            self._read(index, lines[index][:_WIDTH], numbers) for index, numbers in self._some.in_lines(lines)
        )
        return [one for one in read if one is not None]

    def _read(self, index: int, raw: str, numbers: set[int]) -> Classified | None:
        """What the first rule makes of a line that claims it; without one, whether it is an alarm."""
        text = ""
        for number in sorted(numbers):
            if number == _ALARM_NUMBER:
                alarm = _ALARM.search(text or clean(raw), 0, _HEAD)
                return Classified(index, raw, None) if alarm else None
            # Many rules tell a line by its text alone, and it need not be cleaned.
            if not text and self._rules[number].match is not None:
                text = clean(raw)
            if (match := self._claim(number, text)) is not None:
                return None if self._silent[number] else Classified(index, raw, match)
        return None

    def _claim(self, number: int, text: str) -> Match | None:
        rule = self._rules[number]
        if rule.match is None:
            return Match(rule, None)
        found = rule.match.search(text)
        return Match(rule, found) if found else None


class _Finder:
    """Which rules' texts stand where, by one automaton over all of them."""

    def __init__(self, rules: Sequence[Rule], wanted: Callable[[Rule], bool]) -> None:
        texts = [(text, number) for number, rule in enumerate(rules) if wanted(rule) for text in rule.has]
        texts += [(text, _ALARM_NUMBER) for text in _ALARMS]
        self._numbers = [number for _, number in texts]
        self._automaton = BytesAhoCorasick(
            [text.encode() for text, _ in texts],
            matchkind=MatchKind.Standard,
            implementation=Implementation.DFA,
        )

    def in_text(self, text: str) -> list[int]:
        """Numbers of the rules that may claim a text, in their order."""
        found = self._automaton.find_matches_as_indexes(_encoded([text]), overlapping=True)
        return sorted({self._numbers[which] for which, _, _ in found} - {_ALARM_NUMBER})

    def in_lines(self, lines: Sequence[str]) -> Iterator[tuple[int, set[int]]]:
        """Lines that hold a text, with the numbers of their rules."""
        data = _encoded(lines)
        if data.count(b"\n") >= len(lines):
            data = _encoded([line.replace("\n", " ") for line in lines])
        numbers = self._numbers
        index, counted, end, found = 0, 0, -1, set[int]()
        for which, start, _ in self._automaton.find_matches_as_indexes(data, overlapping=True):
            if start > end:
                if found:
                    yield index, found
                index += data.count(b"\n", counted, start)
                counted, found = start, set()
                end = data.find(b"\n", start)
                if end < 0:
                    end = len(data)
            found.add(numbers[which])
        if found:
            yield index, found


def _encoded(lines: Sequence[str]) -> bytes:
    """The lines as one text; line by line, for a single wide character would make a joined one slow."""
    try:
        return b"\n".join(map(str.encode, lines))
    except UnicodeEncodeError:
        return b"\n".join(line.encode(errors="replace") for line in lines)
