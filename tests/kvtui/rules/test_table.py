"""The table of rules: whole, unambiguous, safe to show and to copy."""

from __future__ import annotations

import string
from importlib.resources import files

import pytest

from kvtui.loglines import clean, parse_line
from kvtui.plan import TierKind
from kvtui.rules.classify import Classifier
from kvtui.rules.context import Condition, RunContext
from kvtui.rules.model import Rule
from kvtui.rules.table import FILES, rule_from, rules
from kvtui.samples import Pass

CLASSIFIER = Classifier(rules())


def written(message: str) -> tuple[str, ...]:
    """A message in the forms in which it may stand in a log."""
    stamp = "\x1b[33;20m[2026-11-29 17:00:00,123] LMCache WARNING:\x1b[0m "
    return (
        message,
        f"(EngineCore pid=7) {stamp}{message} \x1b[3m(x.py:9:lmcache.v1.x)\x1b[0m",
        f"(APIServer pid=8) WARNING 11-29 17:00:00 [x.py:9] {message}",
    )


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)
def test_a_rule_claims_its_own_example(rule: Rule) -> None:
    for raw in written(rule.example):
        match = CLASSIFIER.classify(parse_line(raw))
        assert match is not None
        assert match.rule.code == rule.code
        for _, reading in rule.readings:
            text = match.text(reading)
            assert text == clean(text)
            assert "–" not in text


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)
def test_a_rule_says_what_it_means_and_names_only_figures_of_its_line(rule: Rule) -> None:
    groups = set(rule.match.groupindex) if rule.match else set()
    for condition, reading in rule.readings:
        assert reading.means.endswith((".", "}", ")"))
        names = {name for _, name, _, _ in string.Formatter().parse(reading.means) if name is not None}
        assert names <= groups
        # Text of a log must never reach a shell by way of a copied command.
        assert "{" not in reading.command + reading.remedy
        assert "\n" not in reading.means + reading.remedy + reading.command
        assert condition != Condition() or (condition, reading) == rule.readings[-1]


def test_codes_are_unique_and_causes_exist() -> None:
    codes = [rule.code for rule in rules()]
    assert len(codes) == len(set(codes))
    assert {rule.cause for rule in rules()} <= set(codes)


def test_every_file_of_the_table_is_read() -> None:
    assert {one.name for one in (files("kvtui.rules") / "data").iterdir()} == set(FILES)


def test_a_condition_holds_only_when_all_of_it_does() -> None:
    condition = Condition(
        fleet=True, tiers=(TierKind.VALKEY,), steps=(Pass.COLD,), lmcache=("0.5.3", "0.5.4")
    )
    right = RunContext(fleet=True, tier_kind=TierKind.VALKEY, step=Pass.COLD, lmcache_version="0.5.4-g1")
    assert condition.holds(right)
    assert not condition.holds(RunContext(fleet=True, tier_kind=TierKind.VALKEY, step=Pass.COLD))
    assert not condition.holds(RunContext())
    assert not Condition(seeded=False).holds(RunContext(seeded=None))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"level": "odd"}, ValueError),
        ({"case": [{"when": {"moon": True}}]}, TypeError),
        ({"case": [{"when": {"tiers": ["tape"]}}]}, ValueError),
    ],
)
def test_a_row_that_is_wrong_is_refused(change: dict[str, object], error: type[Exception]) -> None:
    row = {"code": "a", "component": "b", "has": "c", "level": "info", "means": "d.", "example": "c"}
    with pytest.raises(error):
        rule_from(row | change)
