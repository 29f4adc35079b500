"""The benches of answers: what they send, and what they make of what came back."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import half_asking, logprob_cost
from bench.answer_tolerances import (
    CASES,
    PAGE,
    RECORD,
    Moved,
    page,
    plan_of,
    record_each,
    recorded,
    reusing,
)
from corpus.tokens import TokenDocument
from kvtui.answer_check import TOLERANCES
from kvtui.attribution import Verdict
from kvtui.campaign.requests import PassPlan, requests_jsonl
from kvtui.campaign.steps import Block
from kvtui.plan import TierKind, Topology, load_plan, parse_plan
from kvtui.plan_toml import to_toml
from kvtui.samples import Pass
from tests.kvtui.plans import lab_plan
from tests.kvtui.test_answer_check import answer_of, moved, passes
from tests.kvtui.test_repeats import sample

DOCUMENTS = tuple(TokenDocument(f"doc-{number}", (1, 2, number), None, "") for number in range(6))


@given(st.integers(0, 99))
def test_each_document_is_asked_both_ways_in_each_pass_and_in_each_repeat(document: int) -> None:
    def asked(repeat: int, step: Pass) -> bool:
        return half_asking.asks(document, repeat, step)

    for repeat in (1, 2):
        assert asked(repeat, Pass.COLD) != asked(repeat, Pass.CACHED)
    for step in (Pass.COLD, Pass.CACHED):
        assert asked(1, step) != asked(2, step)


@pytest.mark.parametrize("repeat", [1, 2, 11])
def test_the_repeat_is_read_from_what_kvtui_calls_a_block(repeat: int) -> None:
    assert half_asking.repeat_of(Block("dram-r7", (Topology.SINGLE,), repeat).name) == repeat


@pytest.mark.parametrize(("step", "asking"), [(Pass.COLD, 3), (Pass.CACHED, 3), (Pass.WARMUP, 6)])
def test_only_log_probabilities_are_taken_away_and_from_half_of_what_is_measured(
    step: Pass, asking: int
) -> None:
    what = PassPlan("dram-single", 1, "single", step, "gpu-a", "tag")
    given_, sent = (
        [json.loads(line) for line in make(lab_plan(), TierKind.DRAM, "run", what, DOCUMENTS).splitlines()]
        for make in (requests_jsonl, half_asking.half_asking)
    )
    assert sum("logprobs" in line["body"] for line in sent) == asking
    for line in sent:
        line["body"]["logprobs"] = 2
    assert sent == given_


def test_what_asking_costs_is_reckoned_document_by_document() -> None:
    plan = load_plan(logprob_cost.PLAN)
    found = []
    for tier, repeat, step, number in product(("none", "dram"), (1, 2), (Pass.COLD, Pass.CACHED), range(9)):
        asks = half_asking.asks(number, repeat, step)
        fast = tier == "dram" and step is Pass.CACHED
        ttft_ms = (50.0 if fast else 500.0) * (1 + number) * (1.2 if asks else 1.0)
        found.append(
            sample(number, step, repeat, ttft_ms, tier=tier, answer=answer_of(number) if asks else None)
        )
    rows = logprob_cost.rows(plan, found)
    assert [row["requests"] for row in rows] == ["compute", "reuse"]
    for row, base in zip(rows, (500.0, 50.0), strict=True):
        assert row["ratio"]["median"] == pytest.approx(1.2)
        assert row["more_ms"]["median"] == pytest.approx(base)
        assert row["ratio"]["n"] == 9


@pytest.mark.parametrize(("dtype", "layers"), CASES)
def test_a_type_is_measured_with_a_plan_of_its_own(dtype: str, layers: int) -> None:
    plan = plan_of(dtype, layers)
    assert parse_plan(to_toml(plan), "plan") == plan
    assert plan.engine.extra_args == ("--dtype", dtype)
    assert {case[0] for case in CASES} == set(TOLERANCES)


def test_only_what_was_reused_is_compared() -> None:
    moved_by = {3: moved(answer_of(3), 0.5)}
    samples = passes(moved_by)
    sizes = reusing(samples)
    assert len(sizes) == 8
    assert [size > 0.001 for size in sizes] == [False] * 7 + [True]
    missed = [
        replace(one, verdict=Verdict.NONE) if one.step is Pass.CACHED and one.document == "doc-3" else one
        for one in samples
    ]
    assert max(reusing(missed)) < 0.001


def test_the_page_counts_what_is_beyond_the_tolerance() -> None:
    one = Moved("float32", 4, (0.00001, 0.00002), (0.0005, 0.4, 2.0), 3.0, "0123456789", "2026-11-30")
    assert "| float32 | 4 | 2 | 1.5e-05 | 2e-05 | 0.001 | 3 | 2 | 0.0005 | 0.4 | 3 | 01234567 |" in page(
        [one]
    )


@pytest.mark.parametrize("failing", range(len(CASES)))
def test_a_case_that_fails_loses_nothing_that_is_known(failing: int, tmp_path: Path) -> None:
    path = tmp_path / "record.json"

    def measuring(date: str, fails: int, dtype: str, layers: int) -> Moved:
        if (dtype, layers) == CASES[fails]:
            raise RuntimeError("failed")
        return Moved(dtype, layers, (0.1,), (), None, "c", date)

    with pytest.raises(RuntimeError):
        record_each(path, partial(measuring, "first", len(CASES) - 1))
    with pytest.raises(RuntimeError):
        record_each(path, partial(measuring, "second", failing))
    dates = ["second"] * failing + ["first"] * (len(CASES) - 1 - failing)
    assert recorded(path) == [
        Moved(*case, (0.1,), (), None, "c", date) for case, date in zip(CASES, dates, strict=False)
    ]


def test_the_page_says_what_was_recorded() -> None:
    known = recorded(RECORD)
    assert PAGE.read_text(encoding="utf-8") == page(known)
    assert [(one.dtype, one.layers) for one in known] == list(CASES)
    for one in known:
        assert max(one.rounding) < TOLERANCES[one.dtype]
