"""The classifier: which lines matter, and that no line can hurt it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kvtui.loglines import clean
from kvtui.rules.classify import Classifier
from kvtui.rules.context import RunContext
from kvtui.rules.merge import LogFindings
from kvtui.rules.table import rules

CLASSIFIER = Classifier(rules())
FULL = "Failed to allocate memory block of size 512 because no memory is available"
TEXTS = st.sampled_from([text for rule in rules() for text in rule.has])


def test_lines_of_the_normal_course_are_left_out() -> None:
    lines = [
        'INFO:     127.0.0.1:5000 - "POST /v1/completions HTTP/1.1" 200 OK',
        "(EngineCore pid=7) INFO 11-29 17:00:01 [x.py:9] ERROR is a word here",
        "Using hash algorithm: sha256_cbor",
        "",
    ]
    assert CLASSIFIER.classify_many(lines) == []
    assert CLASSIFIER.classify_many([]) == []


def test_alarms_of_every_source_are_kept_with_their_places() -> None:
    alarms = [
        "(EngineCore pid=7) WARNING 11-29 17:00:01 [x.py:9] odd",
        "ERROR:    Exception in ASGI application",
        "2026-11-29T16:55:14.156961Z  WARN logger_core: odd",
        "[2026-11-29 17:00:00,123] LMCache CRITICAL: odd",
        "Traceback (most recent call last):",
    ]
    lines = [line for alarm in alarms for line in ("all is well", alarm)]
    assert [one.index for one in CLASSIFIER.classify_many(lines)] == [1, 3, 5, 7, 9]


def test_a_line_end_inside_a_line_moves_no_other() -> None:
    (one,) = CLASSIFIER.classify_many(["a\nb\nc", "d\n", FULL])
    assert (one.index, one.raw) == (2, FULL)


def test_an_endless_line_is_read_as_far_as_it_may_matter() -> None:
    endless = "Thread " * 400_000 + "\n"
    findings = LogFindings(RunContext(), CLASSIFIER)
    findings.feed("node-a", "engine", 1, [endless, "ERROR " + endless, f"{FULL} {endless}", FULL])
    found = findings.findings()
    assert [one.count for one in found if one.code == "memory-block-full"] == [2]
    assert all(len(one.line) <= 400 and len(one.text) <= 600 for one in found)


@given(st.lists(st.one_of(st.text(max_size=80), st.builds("{}{}{}".format, st.text(), TEXTS, st.text()))))
def test_any_lines_are_taken_and_shown_harmlessly(lines: list[str]) -> None:
    findings = LogFindings(RunContext(), CLASSIFIER)
    findings.feed("node-a", "engine", 1, lines)
    for one in findings.findings():
        for shown in (one.text, one.line, one.detail):
            assert clean(shown) == shown
        assert 1 <= one.first.number <= one.last.number <= len(lines)


@given(st.lists(st.one_of(st.text(max_size=40), TEXTS), max_size=30))
def test_lines_one_by_one_and_together_are_the_same(lines: list[str]) -> None:
    together = [(one.index, one.match and one.match.rule) for one in CLASSIFIER.classify_many(lines)]
    single = [
        (index, one.match and one.match.rule)
        for index, line in enumerate(lines)
        for one in CLASSIFIER.classify_many([line])
    ]
    assert together == single
