"""``kvtui results``: what it prints of a record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kvtui.cli import app
from kvtui.paths import places
from kvtui.record import create
from kvtui.recordings import RECORDED


@pytest.fixture
def run(own_places: Path) -> str:
    """The recorded run, among a person's own."""
    record = create(places().runs, 1_764_450_000.0)
    record.write(record.plan_file, (RECORDED / "plan.json").read_text("utf-8"))
    record.write(record.events, (RECORDED / "events.jsonl").read_text("utf-8"))
    return record.run


def printed(*arguments: str) -> str:
    ended = CliRunner().invoke(app, ["results", *arguments])
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def test_intervals_prices_and_rankings_are_printed(run: str) -> None:
    text = printed(run)
    assert "8.86 to 13.97× (99.2 %)" in text
    assert "a hit saves                  569 ms, 510 to 874 (99.2 %), n=8" in text
    assert "valkey against none: faster" in text
    assert "at 90 % hits" in text


def test_a_hit_rate_of_ones_own(run: str) -> None:
    text = printed(run, "--hit-rate", "75")
    assert "at 75 % hits" in text
    assert "at 90 % hits" not in text


def test_a_run_against_another(run: str) -> None:
    assert "cold: reproduced (second ÷ first 1.00×" in printed(run, "--against", run)
    read = json.loads(printed(run, "--against", run, "--within", "5", "--json"))
    assert read["within"] == 0.05
    assert read["alike"]
