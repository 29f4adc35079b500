"""Records of campaigns: packed without loss for the test, and two of them make a page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from bench.reproduction import DOCS, PLAN, WITHIN, page
from bench.reproduction_record import packed, read_all, unpacked
from kvtui.plan import load_plan
from kvtui.reproduction import reproduction
from kvtui.run_result import RunResult
from tests.kvtui.test_repeats import campaign, plan, result

ABOUT = {"command": "c", "commit": "abc", "date": "2026-11-30 00:00 UTC", "load_before": 0.1, "cores": 2}


def occasion(run: str, factor: float) -> RunResult:
    samples = tuple(replace(one, ttft_ms=(one.ttft_ms or 0) * factor) for one in campaign((1, 1, 1)))
    return RunResult(replace(result(samples), run=run), plan(3), samples)


def test_what_was_packed_gives_the_same_verdict() -> None:
    first, second = occasion("a", 1.0), occasion("b", 1.04)
    before = reproduction(first, second, WITHIN)
    texts = [packed(one, ABOUT) for one in (first, second)]
    again = [unpacked(json.loads(text)) for text in texts]
    after = reproduction(again[0], again[1], WITHIN)
    assert before.reproduced
    assert after.reproduced
    assert [one.outcome for one in after.figures] == [one.outcome for one in before.figures]
    assert json.loads(texts[0])["rows"][0]["repeats"] == 3
    assert max(map(len, texts[0].splitlines())) < 400


def test_each_campaign_is_held_against_the_one_before_it(tmp_path: Path) -> None:
    for run, factor in (("1", 1.0), ("2", 1.3), ("3", 1.33)):
        (tmp_path / f"{run}.json").write_text(packed(occasion(run, factor), ABOUT))
    text = page(read_all(tmp_path))
    assert "## 1 and 2: not shown to be reproduced" in text
    assert "## 2 and 3: reproduced" in text
    assert "| 3 | 2026-11-30 00:00 UTC | abc | 0.10 | 2 | " in text


def test_campaigns_of_other_plans_are_shown_and_not_compared(tmp_path: Path) -> None:
    for run, name in (("1", "a"), ("2", "b"), ("3", "a")):
        made = occasion(run, 1.0)
        other = replace(made, plan=made.plan.model_copy(update={"name": name}))
        (tmp_path / f"{run}.json").write_text(packed(other, ABOUT))
    text = page(read_all(tmp_path))
    assert [line for line in text.splitlines() if line.startswith("## ")] == ["## 1 and 3: reproduced"]
    assert text.count("| 2026-11-30 00:00 UTC |") == 3


def test_the_page_says_what_was_recorded() -> None:
    known = read_all(DOCS / "records" / "reproduction")
    assert (DOCS / "reproduction.md").read_text(encoding="utf-8") == page(known)


def test_the_plan_has_three_repeats() -> None:
    assert load_plan(PLAN).passes.repeats == 3
