"""The live view and the tables say the same of the same events."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kvtui.campaign import layout
from kvtui.live.sources import PassSource, pass_source
from kvtui.live.standing import Sign
from kvtui.live.state import LiveState
from kvtui.plan import Topology
from kvtui.results import result_of
from kvtui.samples import Pass
from tests.kvtui.live.runs import RUNS, Run, recorded


@pytest.mark.parametrize("share", [0.3, 0.5, 0.77, 1.0])
def test_medians_of_a_judged_tier_are_those_of_the_tables(share: float) -> None:
    plan, events = recorded()
    events = events[: int(len(events) * share)]
    state = LiveState(plan)
    state.feed(events)
    rows = {(row.tier, row.topology): row for row in result_of("run", plan, events).rows}
    whole = {key: row for key, row in rows.items() if row.cached_n == plan.corpus.documents}
    assert whole
    for (tier, topology), row in whole.items():
        view = state.view(events[-1]["wall_s"], tier, topology)
        shown = view.histogram
        assert (shown.tier, shown.topology) == (tier, topology)
        assert shown.cold_median_ms == row.cold_ms
        assert shown.cached_median_ms == row.cached_ms
        assert shown.speedup == row.speedup
        interval = row.ratio.interval if row.ratio else None
        levels = (interval.low, interval.high, interval.level) if interval else (None, None, None)
        assert (shown.speedup_low, shown.speedup_high, shown.speedup_level) == levels
        mark = next(mark for mark in view.tiers if mark.shown)
        assert mark.reused == row.reused
        assert (len(shown.cold_ms), len(shown.cached_ms)) == (row.cold_n, row.cached_n)


def test_events_fed_in_pieces_give_the_same_view_as_all_at_once() -> None:
    plan, events = recorded()
    at_once, in_pieces = LiveState(plan), LiveState(plan)
    at_once.feed(events)
    for start, stop in pairwise([*range(0, len(events), 37), len(events)]):
        in_pieces.feed(events[start:stop])
        in_pieces.view(events[start]["wall_s"])  # views in between change nothing
    assert at_once.view(events[-1]["wall_s"]) == in_pieces.view(events[-1]["wall_s"])


def test_a_block_that_was_started_anew_counts_from_its_last_attempt_as_in_the_tables() -> None:
    run = Run()
    run.whole_pass("dram", Pass.COLD, [400.0] * 8, "none")
    run.own("block_restarted", block="dram-single")
    src = run.source("dram", Pass.COLD, 2)
    run.of_node(src, "pass_begin", requests=8)
    run.answer("dram", Pass.COLD, 0, 300.0, attempt=2)
    assert run.view(tier="dram").histogram.cold_ms == (300.0,)
    run.own("run_failed", message="lost")
    # Nothing of the second attempt was judged, so the tables show the first one.
    assert run.view(tier="dram").histogram.cold_median_ms == 400.0
    assert [row.cold_ms for row in result_of("r", run.plan, run.events).rows] == [400.0]


def test_a_cold_request_that_reused_something_is_not_counted_as_cold() -> None:
    run = Run()
    run.judge("dram", Pass.COLD, 0, 400.0)
    run.judge("dram", Pass.COLD, 1, 50.0, "partial")
    assert run.view(tier="dram").histogram.cold_ms == (400.0,)


def test_the_name_of_a_source_is_read_as_it_was_written() -> None:
    name = layout.source("gpu-a", "valkey-single-fleet", 3, Topology.FLEET, Pass.GATE_CACHED)
    assert pass_source(name) == PassSource("gpu-a", "valkey-single-fleet", 3, "fleet", Pass.GATE_CACHED)
    assert pass_source("gpu-a:watch") is None


def test_the_small_recording_is_a_whole_good_run() -> None:
    plan, events = recorded(RUNS / "good")
    state = LiveState(plan)
    state.feed(events)
    view = state.view(events[-1]["wall_s"])
    assert view.head.state == "done"
    signs = {(mark.tier, mark.topology): mark.sign for mark in view.tiers}
    assert signs["valkey", "fleet"] is Sign.GOOD
    assert signs["dram", "single"] is Sign.GOOD
    assert signs["dram", "fleet"] is Sign.WARNING
    assert "events-unread" not in [one.finding.code for one in view.findings]
