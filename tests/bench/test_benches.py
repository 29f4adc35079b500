"""Every bench runs to its end on a small part of its work and prints figures; how fast is not asked."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest

from bench import (
    classify,
    corpus_figures,
    live_model,
    live_screen,
    plan_fit,
    plan_screen,
    simulated_statistics,
    watching,
)
from kvtui.samples import Pass
from tests.kvtui.live.runs import recorded


@pytest.fixture
def bench(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[Any, dict[str, object], tuple[str, ...]], str]:
    """Runs a bench with smaller constants and these arguments; what it printed."""

    def run(module: Any, smaller: dict[str, object], arguments: tuple[str, ...] = ()) -> str:
        for name, value in smaller.items():
            assert hasattr(module, name)
            monkeypatch.setattr(module, name, value)
        monkeypatch.setattr(sys, "argv", [module.__name__, *arguments])
        assert not module.main()
        return capsys.readouterr().out

    return run


Bench = Callable[..., str]


def test_classify(bench: Bench) -> None:
    told = bench(classify, {"ROUNDS": 1, "PLAIN_LINES": 50}, ("--lines", "200"))
    assert re.search(r"^real logs +[\d,]+ +[\d,]+ +\d+ +[\d,]+$", told, re.MULTILINE)


def test_live_model(bench: Bench) -> None:
    told = bench(live_model, {"_EVENTS": 600, "_LINES": 300})
    assert [line.split()[0] for line in told.splitlines()] == [
        "feed",
        "view",
        "view",
        "flood",
        "figures",
        "histogram",
    ]


def test_plan_screen(bench: Bench) -> None:
    told = bench(plan_screen, {"SIZES": ((80, 24),), "_ROUNDS": 1, "_PAUSE_S": 0.02})
    for words in ("empty screen opened", "Plan opened", "keystroke to paint", "all panels drawn anew"):
        assert re.search(rf"^80×24 +{words} +[\d.]+ ms .* × an empty screen$", told, re.MULTILINE)


def test_live_screen(bench: Bench) -> None:
    told = bench(live_screen, {"_SECONDS": 0.2, "_SETTLED_S": 0.2, "LINES": 600})
    assert "600 lines: 0 lost" in told
    assert re.search(r"two drawings a second: [\d.]+% of a core", told)
    assert re.search(r"input to paint in the flood, 99 of 100 of \d+: \d+ ms", told)


def test_plan_fit(bench: Bench) -> None:
    told = bench(plan_fit, {"ROUNDS": 2})
    assert told.count("median") == 2


def test_corpus_figures(bench: Bench) -> None:
    told = bench(corpus_figures, {"TIMED": 2, "SHOWN": 6})
    assert told.startswith("2 documents,")
    assert len(told.splitlines()) > 4


def test_simulated_statistics(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "exit", lambda code: None)  # so few campaigns prove nothing
    told = bench(simulated_statistics, {"SIZES": (8,)}, ("--campaigns", "2"))
    assert "judged by kvtui's own functions" in told


def times(*factors: float) -> watching.Times:
    """Two runs of a kind over six documents."""
    return {
        (step, f"d{place}"): [100.0 * (place + 1) * factor for factor in factors]
        for step in (Pass.COLD, Pass.CACHED)
        for place in range(6)
    }


@pytest.mark.parametrize(("watched", "ratio", "equal"), [(1.02, 1.02, True), (1.2, 1.2, False)])
def test_what_watching_costs_is_reckoned_document_by_document(
    watched: float, ratio: float, equal: bool
) -> None:
    kinds = {"alone": times(0.9, 1.1), "watched": times(watched, watched)}
    rows = [watching.compared(step, kinds) for step in (Pass.COLD, Pass.CACHED)]
    assert [(row["pass"], row["n"]) for row in rows] == [("cold", 6), ("cached", 6)]
    for row in rows:
        assert row["ratio_median"] == pytest.approx(ratio)
        assert row["alone_ms"] == pytest.approx(350.0)
    assert watching.undisturbed(rows) is equal


def test_the_times_of_a_run_are_those_of_its_two_passes() -> None:
    _, events = recorded()
    found = watching.times_of(events)
    assert {step for step, _ in found} == {Pass.COLD, Pass.CACHED}
    assert all(ttft_ms > 0 for ttft_ms in found.values())
