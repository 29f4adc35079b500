"""Ceilings from an agent's answer: the median of the repeats, with their spread."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kvtui.ceiling_reading import Skipped, ceilings_of, skipped_of

WAY = {
    "what": "disk-read",
    "how": "direct, 4 threads",
    "threads": 4,
    "tool": "fio-3.33",
    "bytes_s": [1.5e9, 1.2e9, 1.6e9],
}


def read(answer: dict[str, Any]) -> Any:
    return ceilings_of("gpu-a", answer, 1000, "/mnt/kv", 7.0)


def test_a_way_becomes_a_ceiling() -> None:
    [found] = read({"ways": [WAY]})
    assert (found.bytes_s, found.low_bytes_s, found.high_bytes_s, found.repeats) == (1.5e9, 1.2e9, 1.6e9, 3)
    assert (found.node, found.what, found.how, found.threads) == ("gpu-a", "disk-read", WAY["how"], 4)
    assert (found.tool, found.target, found.chunk_bytes) == ("fio-3.33", "/mnt/kv", 1000)
    assert found.measured_wall_s == 7.0


def test_ways_without_a_figure_are_none() -> None:
    ways = [{**WAY, "bytes_s": []}, {**WAY, "bytes_s": [0.0]}, {**WAY, "what": "luck"}, "text"]
    assert read({"ways": ways}) == ()
    assert read({}) == ()


def test_what_was_skipped_is_told_without_escapes() -> None:
    answer = {"skipped": [{"what": "network", "how": "glide\x1b[2J, 8 workers", "why": "no\nglide"}]}
    assert skipped_of("gpu-a", answer) == (Skipped("gpu-a", "network", "glide, 8 workers", "no glide"),)


json_values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
ways = st.fixed_dictionaries(
    {"what": st.just("memory") | json_values, "bytes_s": st.lists(json_values, max_size=3) | json_values},
    optional={"how": json_values, "threads": json_values, "tool": json_values},
)


@given(st.fixed_dictionaries({"ways": st.lists(ways | json_values) | json_values, "skipped": json_values}))
def test_no_answer_raises(answer: dict[str, Any]) -> None:
    for found in read(answer):
        assert 0 < found.low_bytes_s <= found.bytes_s <= found.high_bytes_s
    skipped_of("gpu-a", answer)
