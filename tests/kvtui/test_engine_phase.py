"""What a starting engine does, from real logs cut off at each line, and from anything else."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from kvtui.engine_phase import FIRST, phase_of

LOGS = Path(__file__).parents[1] / "data" / "logs"


def phases(name: str) -> list[str]:
    """The phases of a log in order, each once as long as it lasts."""
    lines = (LOGS / name).read_text(encoding="utf-8", errors="replace").splitlines()
    start = next(n for n, line in enumerate(lines) if "Application startup complete" in line) + 1
    return [phase for phase, _ in groupby(phase_of(lines[:n]) for n in range(start + 1))]


def test_an_engine_on_a_gpu_that_stores_in_valkey() -> None:
    assert phases("valkey-lmcache-0.5.3.log") == [
        FIRST,
        "reading the model's configuration",
        "starting the engine's core",
        "loading weights",
        "measuring memory",
        "allocating the KV cache",
        "starting LMCache",
        "allocating LMCache's memory",
        "connecting to the store",
        "starting LMCache",
        "warming up the engine",
        "warming up kernels",
        "starting LMCache",
        "opening the API",
        "answering a first question",
    ]


def test_an_engine_on_a_cpu() -> None:
    seen = phases("disk-builtin.log")
    assert seen[:4] == [
        FIRST,
        "reading the model's configuration",
        "starting the engine's core",
        "loading weights",
    ]
    assert seen[-1] == "answering a first question"


def test_files_of_weights_are_counted() -> None:
    line = "(EngineCore pid=9) Loading safetensors checkpoint shards:  25% Completed | 1/4 [00:01<00:03]"
    assert phase_of(["Starting to load model m...", line]) == "loading weights, file 2 of 4"
    assert phase_of([line.replace("1/4", "4/4")]) == "loading weights, file 4 of 4"
    assert phase_of([line.replace("1/4", "0/1")]) == "loading weights"


@given(st.lists(st.text()))
def test_any_log_has_a_phase(lines: list[str]) -> None:
    assert phase_of(lines) == FIRST or lines
