"""Each thing about a node that spoils a run is told, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kvtui.findings import Level
from kvtui.node_findings import GIB, node_findings
from kvtui.nodefacts import Gpu, GpuProcess, NodeFacts
from tests.kvtui.test_nodefacts import KNOWN, UNKNOWN

GPU = Gpu(0, "H200", 141 * GIB, 1 * GIB, 0, "570.86", ())
GOOD = replace(KNOWN, gpus=(GPU,), clock_skew_s=0.01, rtt_ms=0.8)


def with_holders(*processes: GpuProcess) -> dict[str, Any]:
    return {"gpus": (replace(GPU, foreign=processes),)}


def test_a_good_node_and_one_of_which_nothing_is_known_give_no_findings() -> None:
    assert node_findings(GOOD) == ()
    assert node_findings(replace(UNKNOWN, gpus=())) == ()
    assert node_findings(replace(GOOD, gpus=(replace(GPU, foreign=None),))) == ()


@pytest.mark.parametrize(
    ("code", "level", "change"),
    [
        ("node-gpus-unknown", Level.WARNING, {"gpus": None}),
        ("node-gpu-foreign", Level.WARNING, with_holders(GpuProcess(7, "python", None))),
        ("node-no-engine", Level.WARNING, {"engine_problem": "/x cannot be run"}),
        ("node-swap", Level.WARNING, {"swap_used_bytes": 2 * GIB}),
        ("node-thp", Level.INFO, {"thp": "always"}),
        ("node-clock", Level.WARNING, {"clock_skew_s": -0.2}),
    ],
)
def test_what_spoils_a_run_is_found(code: str, level: Level, change: dict[str, Any]) -> None:
    [finding] = node_findings(replace(GOOD, **change))
    assert (finding.code, finding.level, finding.where) == (code, level, "gpu-a")


def test_a_skew_within_the_half_of_the_way_is_none() -> None:
    far: NodeFacts = replace(GOOD, clock_skew_s=0.2, rtt_ms=400.0)
    assert node_findings(far) == ()


def test_who_holds_a_gpu_is_named() -> None:
    holders = [GpuProcess(pid, "trainer", 10 * GIB) for pid in range(1, 6)]
    [finding] = node_findings(replace(GOOD, **with_holders(*holders)))
    assert finding.text == (
        "50.0 GiB of GPU 0 is held by trainer (pid 1), trainer (pid 2), trainer (pid 3) and 2 more, "
        "which no kvtui started."
    )
