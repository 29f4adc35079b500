"""Findings from a finished run's own times: each planted, and clean runs quiet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kvtui.attribution import Verdict
from kvtui.findings import Finding, Level
from kvtui.journal import read_events
from kvtui.plan import Plan, Topology
from kvtui.recordings import RECORDED
from kvtui.results import result_of
from kvtui.sample_findings import sample_findings
from kvtui.samples import Pass, Sample
from kvtui.tier_samples import TierSamples


def sample(place: int, step: Pass, ttft_ms: float, **more: Any) -> Sample:
    fields: dict[str, Any] = {
        "request_id": f"{step}.{place}",
        "tier": "valkey",
        "block": "valkey-single",
        "attempt": 1,
        "topology": "single",
        "step": step,
        "document": f"doc-{place}",
        "place": place,
        "node": "gpu-a",
        "ttft_ms": ttft_ms,
        "prompt_tokens": 10_000,
        "reusable_tokens": 9984,
        "reused_tokens": 0 if step is Pass.COLD else 9984,
        "verdict": Verdict.NONE if step is Pass.COLD else Verdict.FULL,
        "reason": "",
        "evidence": {},
        **more,
    }
    return Sample(**fields)


def noise(count: int, seed: int, around: float, part: float = 0.01) -> list[float]:
    own = np.random.default_rng(seed)
    return [around * (1 + own.normal(0, part)) for _ in range(count)]


def tier(cold: list[float], cached: list[float], more: list[dict[str, Any]] | None = None) -> TierSamples:
    more = more or [{}] * len(cached)
    return TierSamples(
        "valkey",
        Topology.SINGLE,
        tuple(sample(place, Pass.COLD, value) for place, value in enumerate(cold, 1)),
        tuple(
            sample(place, Pass.CACHED, value, **fields)
            for place, (value, fields) in enumerate(zip(cached, more, strict=True), 1)
        ),
    )


def found(*tiers: TierSamples) -> tuple[Finding, ...]:
    return sample_findings(tiers)


def rising(values: list[float], by: float) -> list[float]:
    return [value * (1 + by * place / (len(values) - 1)) for place, value in enumerate(values)]


def test_a_clean_run_is_quiet() -> None:
    for seed in range(40):
        for count, part in ((8, 0.01), (8, 0.1), (30, 0.01), (30, 0.05)):
            clean = tier(noise(count, seed, 300, part), noise(count, seed + 1000, 80, part))
            assert [one for one in found(clean) if one.level is not Level.INFO] == []


def test_the_recorded_lab_run_warns_of_nothing_but_the_tier_that_is_too_small() -> None:
    plan = Plan.model_validate_json((RECORDED / "plan.json").read_text("utf-8"))
    result = result_of("lab", plan, read_events(RECORDED / "events.jsonl"))
    warned = [(one.code, one.where) for one in result.findings if one.level is not Level.INFO]
    assert warned == [("reuse-lost", "dram-small · single")]


def test_drift_over_a_long_pass_is_a_warning_and_takes_the_interval() -> None:
    drifting = tier(rising(noise(30, 1, 300, 0.001), 0.06), noise(30, 2, 80))
    (one,) = found(drifting)
    assert (one.level, one.code, one.where) == (Level.WARNING, "drift", "valkey · cold")
    assert "rises by 6 %" in one.text
    assert not drifting.steady
    assert drifting.cached_drift is None


def test_drift_over_a_short_pass_is_told_without_alarm() -> None:
    (one,) = found(tier(noise(8, 1, 300), [80.0, 76, 73, 70, 68, 64, 60, 57]))
    assert (one.level, one.code) == (Level.INFO, "drift")
    assert one.where == "valkey · single · cached"
    assert "falls by" in one.text


def test_a_slow_start_of_the_cold_pass_is_told_apart() -> None:
    cold = noise(30, 1, 300)
    cold[0], cold[1] = 1600.0, 600.0
    (one,) = [one for one in found(tier(cold, noise(30, 2, 140))) if one.code == "first-requests-differ"]
    assert "a cold engine" in one.text
    assert one.level is Level.INFO


def test_dropped_stores_are_told_apart() -> None:
    cached = noise(30, 2, 140)
    cached[0], cached[1] = 28.0, 80.0
    tokens: list[dict[str, Any]] = [{"reused_tokens": 9984}, {"reused_tokens": 9984}]
    tokens += [{"reused_tokens": 5800, "verdict": Verdict.PARTIAL}] * 28
    (one,) = [o for o in found(tier(noise(30, 1, 300), cached, tokens)) if o.code == "first-requests-differ"]
    assert "58 % against 100 %: stores were dropped" in one.text


def test_a_falling_read_rate_is_told_apart() -> None:
    cached = noise(30, 2, 140)
    cached[0], cached[1] = 28.0, 80.0
    reads = [{"evidence": {"retrieve_gib": 0.5, "retrieve_ms": value}} for value in cached]
    (one,) = [o for o in found(tier(noise(30, 1, 300), cached, reads)) if o.code == "first-requests-differ"]
    assert "read at another speed" in one.text
    assert "GiB/s against 3." in one.text


def test_one_slow_request_is_an_outlier_by_name() -> None:
    cached = noise(30, 2, 80)
    cached[16] = 400.0
    (one,) = found(tier(noise(30, 1, 300), cached))
    assert (one.level, one.code) == (Level.INFO, "outliers")
    assert "1 of 30" in one.text
    assert "doc-17 400 ms" in one.text


def test_two_groups_are_a_warning() -> None:
    cached = [value * (4 if place % 3 == 0 else 1) for place, value in enumerate(noise(30, 2, 80))]
    (one,) = found(tier(noise(30, 1, 300), cached))
    assert (one.level, one.code) == (Level.WARNING, "two-groups")
    assert "20 requests around" in one.text


def test_a_cold_pass_that_two_topologies_share_is_told_of_once() -> None:
    drifting = tier(rising(noise(30, 1, 300, 0.001), 0.06), noise(30, 2, 80))
    fleet = TierSamples("valkey", Topology.FLEET, drifting.cold, drifting.cached)
    assert [one.where for one in found(drifting, fleet)] == ["valkey · cold"]


@pytest.mark.parametrize("count", [0, 1, 2, 5, 7])
def test_few_requests_say_nothing(count: int) -> None:
    assert found(tier(noise(count, 1, 300), noise(count, 2, 80))) == ()
