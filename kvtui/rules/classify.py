"""Which rule knows a line, fast enough for a flood.

One automaton finds every rule's text in a batch at once; only lines that hold one are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from kvtui.loglines import LogLine, clean
from kvtui.rules.model import Classified, Match, Rule

# What a line holds that may be a warning, an error or a traceback, known or not.
_ALARMS = ("WARN", "ERROR", "CRITICAL", "Traceback (most recent call last)")
# The level stands before the message: at the line's start, after the process, or after LMCache's or glide's
# time. glide 2.5 writes WARN.
_ALARM = re.compile(
    r"(?:^|\) |LMCache |Z +)(?:WARN|WARNING|ERROR|CRITICAL)[: ]"
    r"|(?:^|\) |\] )Traceback \(most recent call last\)"
)
_HEAD = 200


class Classifier:
    """Knows the rules, and finds the lines that matter."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        self._owners = [number for number, rule in enumerate(self._rules) for _ in rule.has]
        texts = [text for rule in self._rules for text in rule.has]
        self._find = AhoCorasick(
            [*texts, *_ALARMS], matchkind=MatchKind.Standard, implementation=Implementation.DFA
        )

    def classify(self, line: LogLine) -> Match | None:
        """What is known of a line, the quiet rules included."""
        found = self._find.find_matches_as_indexes(line.text, overlapping=True)
        return self._claim(line.text, [which for which, _, _ in found])

    def classify_many(self, lines: Sequence[str]) -> list[Classified]:
        """The lines that matter, in their order: known ones that may be findings, and unknown alarms."""
        kept: list[Classified] = []
        for index, found in self._candidates(lines):
            raw = lines[index]
            text = clean(raw) if "\x1b" in raw else raw
            match = self._claim(text, found)
            if match is None:
                if _ALARM.search(text, 0, _HEAD):
                    kept.append(Classified(index, raw, None))
            elif not match.rule.silent:
                kept.append(Classified(index, raw, match))
        return kept

    def _candidates(self, lines: Sequence[str]) -> list[tuple[int, list[int]]]:
        found: list[tuple[int, list[int]]] = []
        find = self._find.find_matches_as_indexes
        for index, raw in enumerate(lines):
            if hits := find(raw, overlapping=True):
                found.append((index, [which for which, _, _ in hits]))
        return found

    def _claim(self, text: str, found: Sequence[int]) -> Match | None:
        owners = self._owners
        numbers = sorted({owners[which] for which in found if which < len(owners)})
        for number in numbers:
            rule = self._rules[number]
            if rule.match is None:
                return Match(rule, {})
            if match := rule.match.search(text):
                return Match(rule, match.groupdict())
        return None
