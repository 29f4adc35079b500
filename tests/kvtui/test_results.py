"""Results: rows from samples, tables from rows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.attribution import Verdict
from kvtui.findings import Finding, Level
from kvtui.journal import Event
from kvtui.plan import Node, Topology
from kvtui.results import Row, result_of, row
from kvtui.run_state import state_of
from kvtui.samples import Pass, Sample
from kvtui.stats.compare import Claim
from kvtui.tables import result_text
from kvtui.tier_samples import TierSamples
from tests.kvtui.plans import lab_plan


def sample(
    document: int, step: Pass, ttft_ms: float | None, verdict: Verdict = Verdict.NONE, **more: Any
) -> Sample:
    fields: dict[str, Any] = {
        "request_id": f"r.{document}.{step}",
        "tier": "valkey",
        "block": "valkey-single-fleet",
        "attempt": 1,
        "topology": "single",
        "step": step,
        "document": f"doc-{document}",
        "place": document,
        "node": "gpu-a",
        "ttft_ms": ttft_ms,
        "prompt_tokens": 2064,
        "reusable_tokens": 2048,
        "reused_tokens": {Verdict.FULL: 2048, Verdict.NONE: 0, Verdict.PARTIAL: 256}.get(verdict),
        "verdict": verdict,
        "reason": "",
        "evidence": {},
        **more,
    }
    return Sample(**fields)


def events(samples: list[Sample]) -> list[Event]:
    own = {"v": 1, "src": "kvtui", "wall_s": 0.0}
    found: list[Event] = [{**own, "kind": "geometry", "tier": "valkey", "bytes_per_token": 8192}]
    for one in samples:
        found.append({**own, "kind": "sample", **json.loads(json.dumps(one.to_json()))})
    return found


COLD = [sample(n, Pass.COLD, 400.0 + n) for n in range(8)]
CACHED = [sample(n, Pass.CACHED, 40.0, Verdict.FULL) for n in range(8)]


def one_row(samples: list[Sample]) -> Row:
    rows = result_of("run", lab_plan(), events(samples)).rows
    assert len(rows) == 1
    return rows[0]


def test_a_row_pairs_each_document_with_itself() -> None:
    found = one_row(COLD + CACHED)
    assert (found.cold_ms, found.cold_n) == (403.5, 8)
    assert (found.cached_ms, found.cached_n) == (40.0, 8)
    assert found.speedup == pytest.approx(403.5 / 40)
    assert (found.worst_speedup, found.worst_document) == (10.0, "doc-0")
    assert (found.reused, found.documents) == (8, 8)
    assert found.reused_bytes == 8 * 2048 * 8192
    assert found.throughput_bytes_s == pytest.approx(2048 * 8192 / 0.040)


def test_a_speedup_has_an_interval_with_its_level_and_hodges_lehmann_beside_it() -> None:
    found = one_row(STEADY + CACHED)
    assert found.ratio is not None
    assert found.ratio.median == found.speedup
    assert found.ratio.hodges_lehmann == pytest.approx(401 / 40, rel=1e-2)
    assert (found.ratio.low, found.ratio.high) == (10.0, 402 / 40)
    assert found.ratio.level == pytest.approx(0.9922, abs=1e-4)
    assert found.saved_ms is not None
    assert found.saved_ms.median == 361
    assert found.needed == 6
    text = result_text(result_of("run", lab_plan(), events(STEADY + CACHED)))
    assert "10.00 to 10.05× (99.2 %)" in text


def test_a_pass_that_drifts_has_no_interval_and_says_so() -> None:
    rising = [sample(n, Pass.COLD, 400.0 + 10 * n) for n in range(8)]
    result = result_of("run", lab_plan(), [*events(rising + CACHED), {"kind": "run_done"}])
    (found,) = result.rows
    assert found.drifting
    assert found.ratio is not None
    assert found.ratio.interval is None
    assert [one.code for one in result.findings] == ["drift"]
    assert "drifts" in result_text(result)


def test_percentiles_come_with_their_samples_and_not_before() -> None:
    assert one_row(COLD + CACHED).cold_p95_ms is None
    many = [sample(n, Pass.COLD, 400.0 + n % 7) for n in range(100)]
    found = one_row(many)
    assert (found.cold_p95_ms, found.cold_p99_ms) == (406, 406)
    assert "valkey: p95 406 ms cold, – ms cached" in result_text(result_of("run", lab_plan(), events(many)))
    assert one_row(many[:99]).cold_p99_ms is None


BARE = [
    sample(n, step, 300.0 + n % 3, tier="none", block="none-single-fleet")
    for step in (Pass.COLD, Pass.CACHED)
    for n in range(8)
]
STEADY = [sample(n, Pass.COLD, 400.0 + n % 3) for n in range(8)]


def test_price_and_gain_are_told_against_the_engine_without_a_cache() -> None:
    plan = lab_plan()
    result = result_of("run", plan, events(BARE + STEADY + CACHED))
    (found,) = result.economics
    assert (found.tier, found.topology) == ("valkey", "single")
    assert found.fill_ms is not None
    assert found.fill_ms.median == 100
    assert found.gain_ms is not None
    assert found.gain_ms.median == 261
    text = result_text(result)
    assert "a fill costs                 100 ms, 100 to 100 (99.2 %), n=8, +33.2 %" in text
    assert "hits to pay for a fill" in text
    assert result_of("run", plan, events(COLD + CACHED)).economics == ()


def test_money_needs_a_price_of_the_node() -> None:
    plan = lab_plan()
    nodes = {name: node.model_copy(update={"hourly_price": 2.0}) for name, node in plan.nodes.items()}
    priced = plan.model_copy(update={"nodes": nodes or {"gpu-a": Node(ssh="gpu-a", hourly_price=2.0)}})
    (found,) = result_of("run", priced, events(BARE + STEADY + CACHED)).economics
    assert found.savings[0].money == pytest.approx(found.savings[0].seconds.median / 1800)
    assert "of the hour's price" in result_text(result_of("run", priced, events(BARE + STEADY + CACHED)))


def test_tiers_are_compared_pair_by_pair() -> None:
    result = result_of("run", lab_plan(), events(BARE + STEADY + CACHED))
    (pair,) = result.pairs
    assert (pair.tier, pair.other, pair.claim) == ("valkey", "none", Claim.FASTER)
    assert "valkey against none: faster (7.53×" in result_text(result)


def test_the_json_keeps_its_fields_and_has_no_nonsense() -> None:
    result = result_of("run", lab_plan(), events(BARE + STEADY + CACHED))
    read = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert read["v"] == 1
    (row_read,) = [one for one in read["rows"] if one["tier"] == "valkey"]
    assert row_read["speedup"] == row_read["ratio"]["median"]
    assert set(row_read["ratio"]) == {"n", "median", "hodges_lehmann", "low", "high", "level"}


@given(st.lists(st.none() | st.floats(0, 1e12), max_size=40), st.integers(0, 3))
def test_no_run_makes_nonsense(times: list[float | None], shift: int) -> None:
    made = [sample(n, Pass.COLD, value) for n, value in enumerate(times)]
    made += [sample(n, Pass.CACHED, value, Verdict.FULL) for n, value in enumerate(times[shift:])]
    made += [sample(n, Pass.COLD, value, tier="none", block="n") for n, value in enumerate(times[::-1])]
    result = result_of("run", lab_plan(), [*events(made), {"kind": "run_done"}])
    text = result_text(result) + json.dumps(result.to_json(), allow_nan=False)
    assert "nan" not in text


def test_a_failed_request_is_no_figure() -> None:
    found = one_row([*COLD[1:], sample(0, Pass.COLD, None, Verdict.UNKNOWN), *CACHED])
    assert (found.cold_n, found.cached_n) == (7, 8)
    assert found.speedup == pytest.approx(404 / 40)


def test_a_request_that_reused_anything_is_not_cold() -> None:
    warm = sample(0, Pass.COLD, 9.0, Verdict.PARTIAL)
    found = one_row([*COLD[1:], warm, *CACHED])
    assert (found.cold_n, found.cold_ms) == (7, 404.0)


def test_a_request_that_reused_only_what_it_shares_with_earlier_ones_is_cold() -> None:
    shared = [sample(n, Pass.COLD, 400.0 + n, Verdict.PARTIAL, shared_tokens=256) for n in range(1, 8)]
    found = one_row([COLD[0], *shared, *CACHED])
    assert (found.cold_n, found.cold_ms) == (8, 403.5)
    beyond = sample(1, Pass.COLD, 9.0, Verdict.PARTIAL, shared_tokens=255)
    assert one_row([COLD[0], beyond, *shared[1:], *CACHED]).cold_n == 7


def test_a_record_without_shared_tokens_can_be_read() -> None:
    old = events(COLD + CACHED)
    for event in old:
        event.pop("shared_tokens", None)
    assert result_of("run", lab_plan(), old) == result_of("run", lab_plan(), events(COLD + CACHED))


def test_own_documents_and_what_they_share_are_noted() -> None:
    plan = lab_plan()
    made: Event = {
        "v": 1, "src": "kvtui", "wall_s": 0.0, "kind": "step_done", "step_kind": "CORPUS",
        "record": {
            "documents": 8, "prompt_tokens": 2000, "shared_tokens": 3584, "source_sha256": "ab" * 32,
        },
    }  # fmt: skip
    assert result_of("run", plan, events(COLD)).notes == plan.notes
    own = plan.model_copy(update={"corpus": plan.corpus.model_copy(update={"source": "/docs"})})
    first, second = result_of("run", own, [made, *events(COLD)]).notes[len(plan.notes) :]
    assert first == "The documents are those of /docs (SHA-256 abababababab)."
    assert "share 3,584 of 16,000 tokens" in second


def test_unknown_and_partial_are_not_reuse() -> None:
    cached = [
        sample(0, Pass.CACHED, 40.0, Verdict.FULL),
        sample(1, Pass.CACHED, 40.0, Verdict.PARTIAL),
        sample(2, Pass.CACHED, 40.0, Verdict.UNKNOWN),
    ]
    found = one_row(COLD + cached)
    assert (found.reused, found.partial, found.unknown) == (1, 1, 1)
    assert found.reused_bytes == (2048 + 256) * 8192


def test_warm_ups_and_the_gate_are_never_mixed_in() -> None:
    extra = [
        sample(90 + n, step, 9.0) for n, step in enumerate((Pass.WARMUP, Pass.GATE_COLD, Pass.GATE_CACHED))
    ]
    assert one_row(COLD + CACHED + extra) == one_row(COLD + CACHED)


def test_only_the_last_attempt_of_a_block_counts() -> None:
    again = [sample(n, Pass.COLD, 500.0, request_id=f"again.{n}", attempt=2) for n in range(3)]
    found = one_row(COLD + CACHED + again)
    assert (found.cold_n, found.cold_ms, found.cached_n) == (3, 500.0, 0)


def test_a_fleet_row_takes_the_cold_pass_that_it_followed() -> None:
    fleet = [
        sample(n, Pass.CACHED, 50.0, Verdict.FULL, request_id=f"f.{n}", topology="fleet", node="gpu-b")
        for n in range(8)
    ]
    single, both = result_of("run", lab_plan(), events(COLD + CACHED + fleet)).rows
    assert (single.topology, both.topology) == ("single", "fleet")
    assert (both.cold_ms, both.cached_ms) == (403.5, 50.0)


def test_no_data_is_a_dash() -> None:
    result = result_of("run", lab_plan(), events(COLD))
    text = result_text(result)
    cells = next(line for line in text.splitlines() if line.strip().startswith("valkey")).split()
    assert cells[:4] == ["valkey", "404", "(n=8)", "–"]
    assert cells.count("–") == 6
    assert row(TierSamples("t", Topology.SINGLE, (), ()), 8, None).cold_ms is None


def test_every_number_of_a_table_has_its_n_and_nothing_is_ansi() -> None:
    text = result_text(result_of("run", lab_plan(), events(COLD + CACHED)))
    assert "404 (n=8)" in text
    assert "40.0 (n=8)" in text
    assert "10.09×" in text
    assert "8/8" in text
    assert "\x1b" not in text


def test_the_end_of_a_run_is_the_last_word_of_its_events() -> None:
    own: list[Event] = [{"kind": "run_begin"}, {"kind": "run_failed", "message": "why"}]
    assert state_of(own) == ("failed", "why")
    assert state_of([*own, {"kind": "attached"}]) == ("running", "")
    assert state_of([*own, {"kind": "attached"}, {"kind": "run_done"}]) == ("done", "")


def test_a_finding_is_said_once() -> None:
    finding = Finding(Level.WARNING, "code", "text", "remedy", "where")
    event = {"kind": "finding", "src": "kvtui", "finding": finding.to_json()}
    result = result_of("run", lab_plan(), [event, event])
    assert result.findings == (finding,)
    assert "! where: text remedy" in result_text(result)


@given(st.lists(st.tuples(st.floats(1, 1e5), st.floats(1, 1e5)), min_size=1, max_size=40))
def test_the_median_lies_among_the_documents(pairs: list[tuple[float, float]]) -> None:
    cold = [sample(n, Pass.COLD, a) for n, (a, _) in enumerate(pairs)]
    cached = [sample(n, Pass.CACHED, b, Verdict.FULL) for n, (_, b) in enumerate(pairs)]
    found = row(TierSamples("valkey", Topology.SINGLE, tuple(cold), tuple(cached)), len(pairs), 1)
    ratios = [a / b for a, b in pairs]
    assert found.speedup is not None
    assert found.worst_speedup is not None
    assert min(ratios) == found.worst_speedup <= found.speedup <= max(ratios)
