"""Whatever a record holds: a view never raises, and no figure in it is endless."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kvtui.charts import histogram
from kvtui.journal import Event
from kvtui.live.state import LiveState
from kvtui.palette import PLAIN, Palette
from tests.kvtui.live.runs import Run, numbers, recorded

PLAN, EVENTS = recorded()
# One tier's events, so that a drawn subset often has both halves of a pair.
OF_ONE_TIER = [event for event in EVENTS if "valkey" in str(event)]
FUZZ = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))

scalars: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.just([]) | st.just({}) | st.just(float("nan")) | st.just(float("inf")) | st.just(10**400)
)  # fmt: skip


def check(events: list[Event]) -> LiveState:
    state = LiveState(PLAN)
    state.feed(events)
    for tier, topology in ((None, None), ("valkey", "single"), ("valkey", "fleet"), ("none", "nowhere")):
        view = state.view(1_795_984_310.0, tier, topology)
        assert all(math.isfinite(value) for value in numbers(view))
        for palette in (Palette(), PLAIN) if tier == "valkey" and topology == "fleet" else (PLAIN,):
            histogram(view.histogram, 40, 8, palette)
        for point in view.series.points:
            for request in (point.cold_request, point.cached_request):
                detail = state.request(request)
                assert detail is None or all(math.isfinite(value) for value in numbers(detail))
    return state


@FUZZ
@given(st.lists(st.sampled_from(OF_ONE_TIER), max_size=120))
def test_any_subset_in_any_order_and_with_repeats(events: list[Event]) -> None:
    check(events)


@FUZZ
@given(st.data())
def test_any_field_of_any_event_may_hold_anything(data: st.DataObject) -> None:
    drawn = data.draw(st.lists(st.sampled_from(OF_ONE_TIER), min_size=1, max_size=40))
    events = [dict(event) for event in drawn]
    for _ in range(data.draw(st.integers(1, 30))):
        event = data.draw(st.sampled_from(events))
        name = data.draw(st.sampled_from(sorted(set(event) - {"v"})))
        value: Any = data.draw(scalars)
        if data.draw(st.booleans()) and name not in ("kind", "src"):
            event.pop(name)
        else:
            event[name] = value
    check(events)


@FUZZ
@given(st.lists(st.dictionaries(st.sampled_from(["wall_s", "nics", "disks", "engine", "gpus", "cpu_percent",
       "ram_total_bytes", "ram_available_bytes", "swap_used_bytes", "used_memory_bytes", "evicted_keys"]),
       scalars | st.dictionaries(st.text(max_size=3), scalars | st.dictionaries(
           st.sampled_from(["rx_bytes", "tx_bytes", "read_bytes"]), scalars, max_size=3), max_size=3)
       | st.lists(st.dictionaries(st.sampled_from(["index", "throttle"]), scalars, max_size=2), max_size=2)),
       max_size=8))  # fmt: skip
def test_samples_of_machines_may_hold_anything(samples: list[dict[str, Any]]) -> None:
    events = [{"v": 1, "kind": "node_sample", "src": "gpu-a:watch", **sample} for sample in samples]
    events += [{"v": 1, "kind": "store_sample", "src": "kvtui", **sample} for sample in samples]
    check(events)


def test_what_cannot_be_read_is_counted_and_said() -> None:
    run = Run()
    run.own("sample", request_id="x")
    run.own("finding", finding={"level": "loud"})
    run.events.clear()
    (found,) = run.view().findings
    assert (found.finding.code, found.count) == ("events-unread", 2)


def test_a_whole_record_has_nothing_unread() -> None:
    state = check(list(EVENTS))
    assert "events-unread" not in [one.finding.code for one in state.view(0.0).findings]
