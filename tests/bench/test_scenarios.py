"""The recorded runs in which something goes wrong show what they were made for, and nothing of a machine."""

from __future__ import annotations

import re

import pytest

from bench.make_scenarios import MOST_BYTES, RECORDED, scenarios
from kvtui.live.state import LiveState
from kvtui.plan import Plan
from kvtui.results import Result, result_of
from tests.kvtui.live.runs import recorded

NAMES = [scenario.plan.name for scenario in scenarios()]


def result(name: str) -> Result:
    plan, events = recorded(RECORDED / name)
    return result_of(name, plan, events)


def codes(name: str) -> set[str]:
    return {finding.code for finding in result(name).findings}


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_is_small_and_says_nothing_of_its_machine(name: str) -> None:
    files = [path for path in (RECORDED / name).rglob("*") if path.is_file()]
    assert {"plan.json", "events.jsonl"} < {path.name for path in files}
    assert any(path.suffix == ".log" for path in files)
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert len(text.encode()) <= MOST_BYTES
        assert (
            re.findall(r"(?<![\w.])/(?:root|work|mnt|tmp/(?!vllm|engine))\S*|/home/(?!user)\S*", text) == []
        )


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_is_of_its_plan_and_can_be_watched(name: str) -> None:
    plan, events = recorded(RECORDED / name)
    wanted = next(scenario.plan for scenario in scenarios() if scenario.plan.name == name)
    assert _what_is_asked(plan) == _what_is_asked(wanted)
    state = LiveState(plan)
    state.feed(events)
    assert state.view(events[-1]["wall_s"]).head.state == result(name).state


def _what_is_asked(plan: Plan) -> tuple[object, ...]:
    return plan.name, plan.corpus, plan.hash, plan.passes, plan.tiers


def test_a_tier_that_is_too_small_keeps_nothing() -> None:
    (row,) = result("evicting").rows
    assert (result("evicting").state, row.reused, row.cold_n, row.cached_n) == ("done", 0, 4, 4)


def test_engines_with_other_seeds_share_nothing() -> None:
    (row,) = result("zero-hit-fleet").rows
    assert (result("zero-hit-fleet").state, row.topology, row.reused) == ("done", "fleet", 0)
    assert "fingerprint-differs" in codes("zero-hit-fleet")


def test_a_store_that_dies_ends_the_run() -> None:
    (row,) = result("store-down").rows
    assert (result("store-down").state, row.cached_n) == ("failed", 0)
    assert "Valkey" in result("store-down").reason


def test_an_engine_that_dies_leaves_a_pass_half_done() -> None:
    (row,) = result("engine-killed").rows
    assert row.cold_n == 4
    assert 0 < row.cached_n < 4
