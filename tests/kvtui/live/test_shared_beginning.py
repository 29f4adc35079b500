"""A cold request that reused what it shares with earlier ones of its pass."""

from __future__ import annotations

import pytest

from kvtui.live.state import LiveState
from kvtui.samples import Pass
from tests.kvtui.live.runs import recorded

PLAN, EVENTS = recorded()


def cold_n(reused: int, shared: object) -> int:
    """Cold requests of the valkey tier that count, when each reused and shared so much."""
    state = LiveState(PLAN)
    for event in EVENTS:
        cold = event["kind"] == "sample" and event["step"] == Pass.COLD
        state.feed([{**event, "reused_tokens": reused, "shared_tokens": shared} if cold else event])
    points = state.view(0.0, "valkey", "single").series.points
    return sum(point.cold_ms is not None for point in points)


@pytest.mark.parametrize(
    ("reused", "shared", "counted"), [(0, 0, 8), (256, 256, 8), (256, 0, 0), (512, 256, 0)]
)
def test_it_counts_as_cold_when_it_reused_no_more(reused: int, shared: int, counted: int) -> None:
    assert cold_n(reused, shared) == counted


@pytest.mark.parametrize("shared", ["256", None, [], 1.5])
def test_a_record_that_holds_nonsense_breaks_no_view(shared: object) -> None:
    cold_n(256, shared)
