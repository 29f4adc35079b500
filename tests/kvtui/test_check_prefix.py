"""What a plan's prefix is expected to give back, as its assessment says it."""

from __future__ import annotations

import pytest

from kvtui.check import Known, assess
from kvtui.findings import Finding, Level
from kvtui.plan import Plan
from tests.kvtui.plans import lab_plan


def a_plan(prefix_tokens: int, *, cached: bool = True) -> Plan:
    plan = lab_plan()
    corpus = plan.corpus.model_copy(update={"prefix_tokens": prefix_tokens})
    return plan.model_copy(update={"corpus": corpus, "tiers": plan.tiers if cached else plan.tiers[:1]})


def of_prefix(plan: Plan) -> list[Finding]:
    found = assess(plan, Known()).findings
    return [finding for finding in found if finding.code.startswith("prefix")]


def test_the_expected_reuse_is_told_with_its_figures() -> None:
    (finding,) = of_prefix(a_plan(600))
    assert (finding.level, finding.code) == (Level.INFO, "prefix-shared")
    assert "finds 512 of its 2,664 tokens" in finding.text
    assert "17% of the cold pass" in finding.text
    assert "finds 2,560" in finding.text


def test_a_prefix_below_a_chunk_gives_nothing_back() -> None:
    (finding,) = of_prefix(a_plan(255))
    assert (finding.level, finding.code) == (Level.WARNING, "prefix-shorter-than-a-chunk")


@pytest.mark.parametrize("plan", [a_plan(0), a_plan(600, cached=False)])
def test_without_a_prefix_or_a_cache_nothing_is_told(plan: Plan) -> None:
    assert of_prefix(plan) == []
