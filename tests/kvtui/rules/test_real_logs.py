"""Every log of a real engine: read whole, and no wolf is cried."""

from __future__ import annotations

import re

import pytest

from kvtui.findings import Level
from kvtui.loglines import Lookup, Retrieve, Store, all_figures, clean, parse_line
from kvtui.rules.classify import Classifier
from kvtui.rules.groups import UNKNOWN
from kvtui.rules.merge import LogFindings
from kvtui.rules.table import rules
from tests.kvtui.rules.logs import FOLDER, LOGS, Log

CLASSIFIER = Classifier(rules())
every_log = pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)

# Lines that count as an alarm and that no rule may know, with why: none.
UNKNOWN_ALARMS: dict[str, str] = {}


def test_every_log_is_described() -> None:
    assert {path.name.removesuffix(".gz") for path in FOLDER.iterdir()} == {log.name for log in LOGS}


@every_log
def test_every_level_and_figure_is_read(log: Log) -> None:
    lines = log.lines()
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", raw) for raw in lines]
    parsed = [parse_line(raw) for raw in lines]
    for level in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"):
        of_lmcache = sum(f"] LMCache {level}: " in text for text in plain)
        of_vllm = sum(re.match(rf"(\(\S+ pid=\d+\) )?{level} \d\d-\d\d ", text) is not None for text in plain)
        assert sum(line.level == level and line.source == "lmcache" for line in parsed) == of_lmcache
        assert sum(line.level == level and line.source == "vllm" for line in parsed) == of_vllm
    found = list(all_figures(lines))
    for kind, mark in ((Lookup, "Reqid: "), (Retrieve, "] Retrieved "), (Store, "] Stored ")):
        assert sum(isinstance(one, kind) for one in found) == sum(mark in text for text in plain)


@every_log
def test_findings_are_the_right_ones_and_nothing_is_unknown(log: Log) -> None:
    findings = LogFindings(log.context, CLASSIFIER)
    findings.feed("node-a", "engine", 1, log.lines())
    found = findings.findings()
    assert {one.code for one in found if one.level is not Level.INFO} == log.findings
    assert [one.line for one in found if one.code == UNKNOWN and one.line not in UNKNOWN_ALARMS] == []
    assert findings.unlisted.lines == 0


@every_log
def test_batches_change_nothing(log: Log) -> None:
    lines = log.lines()
    whole, parts = LogFindings(log.context, CLASSIFIER), LogFindings(log.context, CLASSIFIER)
    whole.feed("node-a", "engine", 1, lines)
    for start in range(0, len(lines), 7):
        parts.feed("node-a", "engine", start + 1, lines[start : start + 7])
    assert parts.findings() == whole.findings()


@every_log
def test_counts_are_those_of_a_plain_search(log: Log) -> None:
    """The fast way finds what asking every rule about every line finds."""
    lines = log.lines()
    plain = []
    for index, raw in enumerate(lines):
        text = clean(raw)
        claims = (
            rule
            for rule in rules()
            if any(one in text for one in rule.has) and (rule.match is None or rule.match.search(text))
        )
        rule = next(claims, None)
        if rule is not None and not rule.silent:
            plain.append((index, rule.code))
    fast = [(one.index, one.match.rule.code) for one in CLASSIFIER.classify_many(lines) if one.match]
    assert fast == plain
