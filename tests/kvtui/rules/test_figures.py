"""Findings of a node's figures: planted, and quiet without."""

from __future__ import annotations

from kvtui.findings import Level
from kvtui.live.state import LiveState
from kvtui.rules.figures import MemoryMargin
from tests.kvtui.plans import lab_plan

GIB = 1024**3


def test_memory_that_runs_low_is_found_with_its_least_and_its_times() -> None:
    margin = MemoryMargin("gpu-a")
    for second, available_gib in enumerate((40.0, 2.0, 1.0, 1.5, 30.0)):
        margin.take(second, available_gib * GIB, 64.0 * GIB)
    found = margin.finding()
    assert found is not None
    assert (found.code, found.level, found.where) == ("memory-low", Level.WARNING, "gpu-a")
    assert found.text == "Only 1.0 GiB of 64.0 GiB of host memory were left."
    assert (margin.count, margin.wall_s) == (3, (1, 3))


def test_enough_memory_and_unknown_memory_are_quiet() -> None:
    margin = MemoryMargin("gpu-a")
    margin.take(1, 3.0 * GIB, 64.0 * GIB)
    margin.take(2, None, 64.0 * GIB)
    margin.take(3, 0.0, None)
    assert margin.finding() is None


def test_a_small_machine_has_a_margin_too() -> None:
    margin = MemoryMargin("gpu-a")
    margin.take(1, 0.4 * GIB, 4.0 * GIB)
    assert margin.finding() is not None


def test_the_live_view_tells_of_it() -> None:
    state = LiveState(lab_plan())
    for second, available_gib in enumerate((40, 1, 40)):
        state.feed(
            [
                {
                    "kind": "node_sample",
                    "src": "gpu-a:watch",
                    "wall_s": 100.0 + second,
                    "ram_total_bytes": 64 * GIB,
                    "ram_available_bytes": available_gib * GIB,
                }
            ]
        )
    (found,) = state.view(110.0).findings
    assert (found.finding.code, found.count, found.first_wall_s) == ("memory-low", 1, 101.0)
