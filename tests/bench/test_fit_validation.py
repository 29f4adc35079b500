"""The fit model against what real engines were measured to do, and what is said of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from bench.fit_combinations import Combination, combinations, predicted
from bench.fit_measuring import Measurement, measured, measurement_from
from bench.fit_report import contradicted, page, verdict
from bench.fit_validation import PAGE, RECORD
from kvtui.fit import Reuse
from kvtui.plan import Order, Policy, TierKind

ALL = combinations()


def recorded() -> list[Measurement]:
    return [measurement_from(data) for data in json.loads(RECORD.read_text(encoding="utf-8"))]


def made_up(combination: Combination, found: int) -> Measurement:
    return Measurement(combination, found, (), "0" * 40, "2026-11-29", {"lmcache": "0.5.4"})


def as_predicted() -> list[Measurement]:
    return [made_up(combination, predicted(combination).low) for combination in ALL]


def test_all_kinds_policies_and_orders_are_tried() -> None:
    local = [one for one in ALL if one.kind is not TierKind.VALKEY]
    assert len(set(local)) == len(local) >= 12
    for kind in (TierKind.DRAM, TierKind.DISK):
        assert {one.policy for one in local if one.kind is kind} == set(Policy)
    assert {one.order for one in local} == set(Order)
    assert {one.store_policy for one in ALL if one.kind is TierKind.VALKEY} == {"noeviction", "allkeys-lru"}


def test_real_engines_did_what_is_predicted() -> None:
    assert contradicted(ALL, recorded()) == ()


def test_the_page_says_what_was_recorded() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(ALL, recorded())


@pytest.mark.parametrize(
    ("prediction", "found", "word"),
    [
        (Reuse(5, 5, 6), 5, "exact"),
        (Reuse(5, 5, 6), 4, "**contradicted**"),
        (Reuse(2, 4, 6), 2, "inside"),
        (Reuse(2, 4, 6), 4, "inside"),
        (Reuse(2, 4, 6), 5, "**contradicted**"),
    ],
)
def test_the_verdict_on_a_prediction(prediction: Reuse, found: int, word: str) -> None:
    assert verdict(prediction, made_up(ALL[0], found)) == word


def test_an_engine_that_failed_was_not_predicted_where_one_number_was() -> None:
    failed = replace(made_up(ALL[0], 1), reused_tokens=(2048, None))
    assert verdict(Reuse(1, 1, 2), failed) == "**contradicted**"
    assert verdict(Reuse(0, 1, 2), failed) == "inside"
    assert "1/6, then the engine failed" in page(ALL, [failed])
    assert verdict(Reuse(0, 1, 2), None) == "not measured"


def test_one_contradiction_is_found_among_all() -> None:
    right = as_predicted()
    assert contradicted(ALL, right) == ()
    wrong = [replace(right[0], found=right[0].found - 1), *right[1:]]
    assert contradicted(ALL, wrong) == ("shuffled dram-fifo-40: predicted 5/6, measured 4",)
    assert contradicted(ALL, right[1:]) == ("shuffled dram-fifo-40: predicted 5/6, measured nothing",)
    assert page(ALL, wrong).count("contradicted") == 1


def test_a_measurement_is_read_as_it_was_written() -> None:
    one = replace(as_predicted()[0], reused_tokens=(0, 2048))
    assert measurement_from(json.loads(json.dumps(one.to_json()))) == one


def _events(reused: Sequence[int | None], failed: bool = False) -> list[dict[str, Any]]:
    def sample(step: str, document: str, tokens: int | None, ttft_ms: float | None = 1.0) -> dict[str, Any]:
        return {
            "kind": "sample",
            "request_id": f"{step}.{document}",
            "tier": ALL[0].tier_name,
            "block": "b",
            "attempt": 1,
            "topology": "single",
            "step": step,
            "document": document,
            "place": 1,
            "node": "gpu-a",
            "ttft_ms": ttft_ms,
            "prompt_tokens": 2064,
            "reusable_tokens": 2048,
            "reused_tokens": tokens,
            "verdict": "unknown" if tokens is None else "full",
            "reason": "",
            "evidence": {},
        }

    names = [f"d{number}" for number in range(len(reused))]
    cold = [sample("cold", name, 0) for name in names]
    cached = [
        sample("cached", name, tokens, None if failed and tokens is None else 1.0)
        for name, tokens in zip(names, reused, strict=True)
    ]
    return [*cold, *reversed(cached)]


def test_what_a_run_measured_is_told_in_the_order_of_the_cold_pass() -> None:
    assert measured(ALL[0], _events([0, 2048, 0, 1, 2, 3])) == (0, 2048, 0, 1, 2, 3)


def test_a_request_that_failed_found_nothing() -> None:
    assert measured(ALL[0], _events([0, 2048, 0, 1, 2, None], failed=True)) == (0, 2048, 0, 1, 2, None)


def test_a_pass_of_which_something_is_unknown_measures_nothing() -> None:
    assert measured(ALL[0], _events([0, 2048, 0, 1, 2])) is None
    assert measured(ALL[0], _events([0, 2048, 0, 1, 2, None])) is None
    assert measured(replace(ALL[0], chunks=9), _events([0] * 6)) is None
