"""Was a run reproduced? Only where it is shown."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from kvtui.journal import read_events
from kvtui.plan import Plan
from kvtui.recordings import RECORDED
from kvtui.reproduction import reproduction, reproduction_text
from kvtui.results import result_of
from kvtui.run_result import RunResult
from kvtui.samples import samples_of
from kvtui.stats.compare import Reproduced
from tests.kvtui.test_repeats import campaign
from tests.kvtui.test_repeats import plan as repeated_plan
from tests.kvtui.test_repeats import result as result_of_samples


def recorded(factor: float = 1.0, noise: float = 0.0, seed: int = 1) -> RunResult:
    """The recorded run, its times changed."""
    plan = Plan.model_validate_json((RECORDED / "plan.json").read_text("utf-8"))
    events = read_events(RECORDED / "events.jsonl")
    own = np.random.default_rng(seed)
    samples = tuple(
        replace(
            one, ttft_ms=one.ttft_ms * factor * float(np.exp(own.normal(0, noise))) if one.ttft_ms else None
        )
        for one in samples_of(events)
    )
    return RunResult(result_of("one", plan, events), plan, samples)


def test_a_run_is_reproduced_by_itself_but_where_it_drifts() -> None:
    found = reproduction(recorded(), recorded(), 0.1)
    open_ones = {(one.tier, one.what) for one in found.figures if one.outcome is not Reproduced.WITHIN}
    assert open_ones == {("dram", "cached"), ("dram", "speedup")}
    assert not found.reproduced
    assert "dram · single · cached: neither shown (moved by " in reproduction_text(found)
    steady = replace(found, figures=tuple(one for one in found.figures if not one.drifting))
    assert steady.reproduced
    assert "is reproduced within 10 %" in reproduction_text(steady)


def test_a_slower_run_is_not_a_reproduction_but_its_speedups_are() -> None:
    figures = reproduction(recorded(), recorded(1.3), 0.1).figures
    of = {(one.tier, one.topology, one.what): one.outcome for one in figures}
    assert of["disk", "single", "cold"] is Reproduced.BEYOND
    assert of["disk", "single", "speedup"] is Reproduced.WITHIN


def test_noise_shows_neither() -> None:
    figures = reproduction(recorded(), recorded(noise=0.3), 0.1).figures
    assert Reproduced.WITHIN not in {one.outcome for one in figures}


def test_another_model_reproduces_nothing() -> None:
    other = recorded()
    corpus = other.plan.corpus.model_copy(update={"seed": 2})
    found = reproduction(
        recorded(), replace(other, plan=other.plan.model_copy(update={"corpus": corpus})), 0.1
    )
    assert not found.alike
    assert not found.reproduced
    assert "different models" in reproduction_text(found)


def test_it_is_json() -> None:
    read = json.loads(json.dumps(reproduction(recorded(), recorded(), 0.1).to_json(), allow_nan=False))
    assert read["figures"][0]["outcome"] == "reproduced"
    assert {figure["drifting"] for figure in read["figures"]} == {True, False}
    assert read["reproduced"] is False


def _repeated(effect: float, factor: float = 1.0, part: float = 0.005) -> RunResult:
    samples = tuple(
        replace(one, ttft_ms=(one.ttft_ms or 0) * factor) for one in campaign((1, effect, 1), part=part)
    )
    return RunResult(result_of_samples(samples), repeated_plan(3), samples)


def test_runs_of_several_repeats_are_compared_by_the_documents_medians() -> None:
    found = reproduction(_repeated(1.0), _repeated(1.0, 1.03), 0.1)
    assert found.reproduced
    assert {one.found.n for one in found.figures} == {12}
    assert not reproduction(_repeated(1.0), _repeated(1.0, 1.2), 0.1).reproduced


def test_repeats_that_differ_by_more_than_the_margin_reproduce_nothing() -> None:
    figures = {one.what: one for one in reproduction(_repeated(1.0), _repeated(1.3), 0.1).figures}
    assert figures["cached"].drifting
    assert figures["cached"].moved == pytest.approx(0.3, rel=0.1)
    assert figures["speedup"].outcome is Reproduced.NOT_SHOWN
    assert figures["cold"].outcome is Reproduced.WITHIN
    less = {one.what: one for one in reproduction(_repeated(1.0), _repeated(1.05), 0.1).figures}
    assert not less["cached"].drifting
    assert less["cached"].moved == pytest.approx(0.05, rel=0.2)
    assert less["cold"].moved is None
