"""Counters around a pass: what is absent, was reset or lags is unknown and never 0."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.campaign.metrics import engine_counters
from kvtui.pass_counts import EngineTimes, StoreCounts, delta, engine_times, grown, store_counts

COUNT = st.none() | st.text(max_size=3) | st.floats(0, 1e12) | st.integers(0, 2**50)
READING = st.dictionaries(st.sampled_from(["a", "b"]), COUNT)


@given(before=READING, after=READING)
def test_a_counter_that_is_absent_or_was_reset_is_unknown(
    before: dict[str, float | str | None], after: dict[str, float | str | None]
) -> None:
    growth = delta(before, after, "a")
    first, last = before.get("a"), after.get("a")
    if isinstance(first, str | None) or isinstance(last, str | None) or last < first:
        assert growth is None
    else:
        assert growth == last - first >= 0


def test_a_count_is_a_whole_number() -> None:
    assert grown({"a": 1.0}, {"a": 4.0}, "a") == 3
    assert grown({"a": 4.0}, {"a": 1.0}, "a") is None


def reading(count: float, seconds: float) -> dict[str, float | str | None]:
    names = ("ttft", "queue", "prefill", "e2e", "http")
    counts: dict[str, float | str | None] = {f"{name}_count": count for name in names}
    return counts | {f"{name}_s": seconds for name in names}


def test_the_engine_s_times_of_a_pass() -> None:
    found = engine_times(reading(2, 1.0), reading(8, 2.5), 6)
    assert found == EngineTimes(1500, 1500, 1500, 1500, 1500)


@pytest.mark.parametrize("name", ["ttft_count", "http_count", "prefill_s", "queue_s"])
def test_times_that_lag_or_hold_another_s_requests_are_unknown(name: str) -> None:
    after = reading(8, 2.5)
    assert engine_times(reading(2, 1.0), after, 5) is None
    for value in (None, 0.5, 7.0 if name.endswith("count") else None):
        assert engine_times(reading(2, 1.0), after | {name: value}, 6) is None


STORE: dict[str, float | str | None] = {
    "store_run_id": "abc",
    "store_get_calls": 10,
    "store_net_out_bytes": 1000,
    "store_wall_s": 100.0,
}


def test_the_store_s_counts_of_a_pass() -> None:
    after = STORE | {"store_get_calls": 34, "store_net_out_bytes": 5000, "store_wall_s": 103.0}
    assert store_counts(STORE, after) == StoreCounts(24, 4000, 3.0)
    # A store that was started anew and has counted further than before is not the same count.
    assert store_counts(STORE, after | {"store_run_id": "other"}) is None
    assert store_counts(STORE, after | {"store_get_calls": 9}) is None
    assert store_counts(STORE, {}) is None
    assert store_counts({}, after) is None


METRICS = """# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf"} 6.0
vllm:time_to_first_token_seconds_count{engine="0"} 6.0
vllm:time_to_first_token_seconds_sum{engine="0"} 1.5
# TYPE vllm:external_prefix_cache_hits counter
vllm:external_prefix_cache_hits_total{engine="0"} 100.0
vllm:external_prefix_cache_hits_total{engine="1"} 20.0
vllm:external_prefix_cache_hits_created{engine="0"} 1.7e+09
# TYPE http_request_duration_seconds histogram
http_request_duration_seconds_count{handler="/tokenize",method="POST"} 9.0
http_request_duration_seconds_sum{handler="/tokenize",method="POST"} 9.5
http_request_duration_seconds_count{handler="/v1/completions",method="POST"} 6.0
http_request_duration_seconds_sum{handler="/v1/completions",method="POST"} 1.75
"""


def test_the_engine_s_counters_from_its_text() -> None:
    found = engine_counters(METRICS)
    assert (found["ttft_s"], found["ttft_count"]) == (1.5, 6)
    assert (found["http_s"], found["http_count"]) == (1.75, 6)
    assert found["external_hits"] == 120
    assert found["external_queries"] is found["prefill_s"] is None
    assert set(engine_counters(None).values()) == {None}
