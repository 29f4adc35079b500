"""Repeats of a campaign, from samples to rows, findings and tables."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.attribution import Verdict
from kvtui.document_rows import document_rows
from kvtui.findings import Level
from kvtui.journal import Event
from kvtui.plan import Plan, Topology
from kvtui.result_words import repeat_lines
from kvtui.results import Result, result_of, row
from kvtui.sample_findings import sample_findings
from kvtui.samples import Pass, Sample
from kvtui.tables import result_text
from kvtui.tier_samples import TierSamples, tier_samples
from tests.kvtui.knowing import changed
from tests.kvtui.plans import lab_plan

COUNT = 12


def sample(number: int, step: Pass, repeat: int, ttft_ms: float | None, **more: Any) -> Sample:
    block = "valkey-single" + (f"-r{repeat}" if repeat > 1 else "")
    first = (repeat - 1) * 2 * COUNT + (COUNT if step is Pass.CACHED else 0)
    fields: dict[str, Any] = {
        "request_id": f"run.{block}.1.single.{step}.gpu-a.doc-{number}",
        "tier": "valkey",
        "block": block,
        "attempt": 1,
        "topology": "single",
        "step": step,
        "document": f"doc-{number}",
        "place": number + 1,
        "node": "gpu-a",
        "ttft_ms": ttft_ms,
        "prompt_tokens": 2064,
        "reusable_tokens": 2048,
        "reused_tokens": 0 if step is Pass.COLD else 2048,
        "verdict": Verdict.NONE if step is Pass.COLD else Verdict.FULL,
        "reason": "",
        "evidence": {},
        "repeat": repeat,
        "run_place": first + number + 1,
        **more,
    }
    return Sample(**fields)


def campaign(
    effects: tuple[float, ...], part: float = 0.01, seed: int = 1, speedup: float = 10.0
) -> tuple[Sample, ...]:
    """Cold and cached passes; ``effects`` are by how much each repeat's cached pass takes longer."""
    rng = np.random.default_rng(seed)
    found = []
    for repeat, effect in enumerate(effects, 1):
        for step, around in ((Pass.COLD, 400.0), (Pass.CACHED, 400.0 / speedup * effect)):
            times = around * (1 + rng.normal(0, part, COUNT))
            found += [sample(number, step, repeat, float(ms)) for number, ms in enumerate(times)]
    return tuple(found)


def plan(repeats: int) -> Plan:
    return changed(
        lab_plan(),
        passes={"topologies": (Topology.SINGLE,), "repeats": repeats, "fleet_cold": "own"},
        corpus={"documents": COUNT},
    )


def result(samples: tuple[Sample, ...]) -> Result:
    own = {"v": 1, "src": "kvtui", "wall_s": 0.0}
    events: list[Event] = [{**own, "kind": "geometry", "tier": "valkey", "bytes_per_token": 8192}]
    events += [{**own, "kind": "sample", **json.loads(json.dumps(one.to_json()))} for one in samples]
    return result_of("run", plan(3), [*events, {**own, "kind": "run_done"}])


def tier(samples: tuple[Sample, ...]) -> TierSamples:
    (found,) = tier_samples(plan(3), samples)
    return found


def test_a_document_has_one_figure_the_median_over_its_repeats() -> None:
    samples = [sample(n, Pass.COLD, r, 400.0 + n + 10 * r) for n in range(COUNT) for r in (1, 2, 3)]
    samples += [sample(n, Pass.CACHED, r, 40.0 * r) for n in range(COUNT) for r in (1, 2, 3)]
    found = row(tier(tuple(samples)), COUNT, 8192)
    assert (found.cold_n, found.cold_ms) == (COUNT, 425.5)
    assert (found.cached_n, found.cached_ms) == (COUNT, 80.0)
    assert found.speedup == pytest.approx(425.5 / 80)
    assert found.ratio is not None
    assert found.ratio.n == COUNT
    assert (found.reused, found.reused_bytes) == (COUNT, COUNT * 2048 * 8192)
    assert found.repeats == 3
    assert [(one.repeat, one.cold_ms, one.cached_ms) for one in found.by_repeat] == [
        (1, 415.5, 40.0),
        (2, 425.5, 80.0),
        (3, 435.5, 120.0),
    ]
    assert [(one.first_place, one.last_place) for one in found.by_repeat] == [(1, 24), (25, 48), (49, 72)]


def test_a_document_counts_as_reused_only_when_it_was_in_every_repeat() -> None:
    samples = list(campaign((1, 1)))
    lost = {(0, 2): Verdict.NONE, (1, 1): Verdict.UNKNOWN, (2, 1): Verdict.NONE, (2, 2): Verdict.NONE}
    changed_ = [
        sample(int(one.document[4:]), one.step, one.repeat, one.ttft_ms, verdict=verdict)
        if one.step is Pass.CACHED and (verdict := lost.get((int(one.document[4:]), one.repeat)))
        else one
        for one in samples
    ]
    found = row(tier(tuple(changed_)), COUNT, None)
    assert (found.reused, found.partial, found.unknown) == (COUNT - 3, 1, 1)
    assert [one.reused for one in found.by_repeat] == [COUNT - 2, COUNT - 2]


def test_a_request_that_failed_in_one_repeat_leaves_the_others() -> None:
    samples = tuple(
        sample(0, Pass.COLD, 2, None)
        if (one.document, one.step, one.repeat) == ("doc-0", Pass.COLD, 2)
        else one
        for one in campaign((1, 1, 1))
    )
    found = row(tier(samples), COUNT, None)
    assert found.cold_n == COUNT
    assert [one.cold_n for one in found.by_repeat] == [COUNT, COUNT - 1, COUNT]


def test_repeats_that_differ_are_a_warning_with_every_median_and_take_the_interval() -> None:
    found = result(campaign((1, 1.1, 1.25)))
    (finding,) = [one for one in found.findings if one.code == "repeats-differ"]
    assert finding.level is Level.WARNING
    assert finding.where == "valkey · single · cached"
    assert "TTFT rises from repeat to repeat: by document repeat 3 takes" in finding.text
    assert re.search(r"4\d\.\d ms in repeat 2 \(requests 37 to 48 of the run\)", finding.text)
    (only,) = found.rows
    assert only.drifting
    assert only.repeats_differ
    assert only.ratio is not None
    assert only.ratio.interval is None
    assert "repeats differ" in result_text(found)


def test_a_difference_that_is_sure_but_small_leaves_the_interval() -> None:
    found = result(campaign((1, 1.02, 1.02), part=0.002))
    (finding,) = [one for one in found.findings if one.code == "repeats-differ"]
    assert finding.level is Level.INFO
    assert found.rows[0].ratio is not None
    assert found.rows[0].ratio.interval is not None


def test_repeats_that_are_alike_are_quiet() -> None:
    alarms = 0
    for seed in range(60):
        for part in (0.01, 0.05):
            findings = sample_findings([tier(campaign((1, 1, 1), part, seed))])
            alarms += any(one.code == "repeats-differ" for one in findings)
    # Two passes at 0.4 % each: 5 of 120 would be a chance of 1 in 1,000.
    assert alarms < 5
    for repeats in (1, 2):
        assert not [one for one in sample_findings([tier(campaign((1,) * repeats))]) if "repeat" in one.code]


def test_drift_within_one_repeat_is_told_of_that_repeat_and_takes_the_interval() -> None:
    samples = tuple(
        sample(int(one.document[4:]), one.step, one.repeat, (one.ttft_ms or 0) * (1 + 0.05 * (one.place - 1)))
        if (one.step, one.repeat) == (Pass.COLD, 2)
        else one
        for one in campaign((1, 1, 1), part=0.002)
    )
    own = tier(samples)
    drifts = [one for one in sample_findings([own]) if one.code == "drift"]
    assert [one.where for one in drifts] == ["valkey · repeat 2 · cold"]
    assert not own.cold_steady
    assert own.cached_steady
    assert row(own, COUNT, None).drifting


def test_tables_and_json_have_every_repeat_and_what_a_precision_needs() -> None:
    found = result(campaign((1, 1, 1), part=0.05))
    text = result_text(found)
    assert "Repeat by repeat" in text
    assert "25 to 48" in text
    assert found.rows[0].needed is not None
    assert dict(repeat_lines(found.rows[0]))["for ± 5 %"].startswith(f"{found.rows[0].needed} documents")
    (data,) = json.loads(json.dumps(found.to_json()))["rows"]
    assert [one["repeat"] for one in data["by_repeat"]] == [1, 2, 3]
    assert "Repeat by repeat" not in result_text(result(campaign((1,))))


def test_percentiles_count_documents_and_not_requests() -> None:
    found = row(tier(campaign((1, 1, 1))), COUNT, None)  # 36 requests of 12 documents
    assert found.cold_p95_ms is None


@given(st.permutations(range(3 * 2 * COUNT)))
def test_the_order_in_which_samples_are_read_does_not_matter(order: list[int]) -> None:
    samples = campaign((1, 1.05, 1))
    assert row(tier(tuple(samples[at] for at in order)), COUNT, 8192) == row(tier(samples), COUNT, 8192)


def test_a_repeat_whose_cached_pass_is_missing_keeps_its_cold_one() -> None:
    samples = tuple(one for one in campaign((1, 1)) if (one.step, one.repeat) != (Pass.CACHED, 2))
    own = tier(samples)
    assert [len(one.cold) for one in own.repeats] == [COUNT, COUNT]
    assert math.isfinite(row(own, COUNT, None).speedup or math.nan)


def test_documents_are_listed_repeat_by_repeat() -> None:
    rows = document_rows(campaign((1, 1)), "valkey", "single")
    assert [one.repeat for one in rows] == [1] * COUNT + [2] * COUNT
    assert len({one.name for one in rows}) == 2 * COUNT
    assert all(one.cold and one.cached and one.cold.repeat == one.cached.repeat for one in rows)
