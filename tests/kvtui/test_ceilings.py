"""Ceilings: the best of several ways, of one node and one target."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kvtui import ceilings
from kvtui.ceilings import Ceiling, best

DIRECT = Ceiling(
    node="gpu-a",
    what="disk-read",
    how="direct, 4 threads",
    bytes_s=1.57e9,
    low_bytes_s=1.5e9,
    high_bytes_s=1.657e9,
    repeats=3,
    chunk_bytes=14_680_064,
    threads=4,
    tool="kvtui",
    target="/mnt/kv",
    measured_wall_s=1000.0,
)
BUFFERED = replace(DIRECT, how="buffered, cold, 16 threads", bytes_s=2.0e9, high_bytes_s=2.1e9, threads=16)


def test_the_best_way_wins_and_only_of_what_was_asked() -> None:
    others = (
        replace(BUFFERED, node="gpu-b", bytes_s=9e9),
        replace(BUFFERED, what="disk-write", bytes_s=9e9),
        replace(BUFFERED, target="/other", bytes_s=3e9),
    )
    every = (DIRECT, BUFFERED, *others)
    assert best(every, "gpu-a", "disk-read", "/mnt/kv") == BUFFERED
    assert best(every, "gpu-a", "disk-read") == others[2]
    assert best(every, "gpu-a", "network") is None


def test_a_ceiling_tells_spread_age_and_floor() -> None:
    assert pytest.approx(0.1) == DIRECT.spread
    assert DIRECT.age_s(1012.0) == 12.0
    assert DIRECT.age_s(900.0) == 0.0
    assert pytest.approx(0.286, abs=1e-3) == replace(BUFFERED).floor_s(572_500_000)


def test_a_ceiling_survives_json_also_as_an_event() -> None:
    event = {"kind": "ceiling", "v": 1, **json.loads(json.dumps(DIRECT.to_json()))}
    assert ceilings.from_json(event) == DIRECT
