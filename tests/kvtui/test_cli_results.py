"""``kvtui results``: what it prints of a record."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kvtui import launch as launching
from kvtui.cli import app
from kvtui.errors import RecordError
from kvtui.paths import places
from kvtui.record import create, find
from kvtui.recordings import RECORDED
from kvtui.services.live_runs import Quiet


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


def kept(run: str, count: int) -> str:
    """A run like it that was cut off after so many of its events; without a record of them for none."""
    record = create(places().runs, 1_764_460_000.0 + count)
    source = places().runs / run
    record.write(record.plan_file, (source / "plan.json").read_text("utf-8"))
    if count:
        lines = (source / "events.jsonl").read_text("utf-8").splitlines(keepends=True)
        record.write(record.events, "".join(lines[:count]))
    return record.run


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_run_without_a_measured_request(run: str, count: int) -> None:
    other = kept(run, count)
    assert f"Run {other}: cut off. No request was measured. Go on with" in printed(other)
    assert json.loads(printed(other, "--json"))["rows"] == []
    for pair in ([run, "--against", other], [other, "--against", run], [other, "--against", other, "--json"]):
        ended = CliRunner().invoke(app, ["results", *pair])
        assert (ended.exit_code, ended.stdout) == (2, "")
        assert ended.stderr.startswith(f"Run {other} has no measured request, so nothing can be held against")


def test_runs_that_have_nothing_in_common_are_not_compared(run: str) -> None:
    other = places().runs / kept(run, 100_000) / "events.jsonl"
    other.write_text(other.read_text("utf-8").replace('"tier": "', '"tier": "other-'), "utf-8")
    plan = other.with_name("plan.json")
    plan.write_text(re.sub(r'("name": ")(?=(none|dram|disk|valkey))', r"\1other-", plan.read_text("utf-8")))
    ended = CliRunner().invoke(app, ["results", run, "--against", other.parent.name])
    assert ended.exit_code == 2, ended.output
    assert "have no tier in common to compare." in ended.stderr


def test_a_run_that_nobody_carries_on_is_cut_off(run: str) -> None:
    events = places().runs / run / "events.jsonl"
    lines = events.read_text("utf-8").splitlines(keepends=True)
    events.write_text("".join(line for line in lines if '"run_done"' not in line), "utf-8")
    record = find(places().runs, run, unfinished=False)
    with record.follow():
        assert f"Run {run}: running." in printed()
    assert f"Run {run}: cut off. Go on with: kvtui attach {run}" in printed()


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('"topology": ', '"topo": ', "lacks 'topology'."),
        ('"verdict": "none"', '"verdict": "perhaps"', "cannot be read: 'perhaps' is not"),
        ('"bytes_per_token": ', '"bytes": ', "lacks 'bytes_per_token'."),
    ],
)
def test_a_damaged_record_is_said_in_a_sentence(run: str, old: str, new: str, sentence: str) -> None:
    events = places().runs / run / "events.jsonl"
    events.write_text(events.read_text("utf-8").replace(old, new), "utf-8")
    ended = CliRunner().invoke(app, ["results", run])
    assert ended.exit_code == 2
    assert sentence in ended.stderr


def test_a_plan_of_another_kvtui_is_said_in_a_sentence(run: str) -> None:
    (places().runs / run / "plan.json").write_text('{"version": 99}')
    ended = CliRunner().invoke(app, ["results", run])
    assert ended.exit_code == 2
    assert "its plan.json holds no plan of this kvtui." in ended.stderr


def test_damaged_records_do_not_hide_the_run_that_is_under_way(run: str) -> None:
    (places().runs / run / "events.jsonl").write_text("nonsense\n")
    with pytest.raises(RecordError, match="No run is under way"):
        find(places().runs, None, unfinished=True)


def test_a_record_that_does_not_say_where_its_nodes_are(run: str) -> None:
    record = find(places().runs, run, unfinished=False)
    record.events.write_text("")
    record.target_file.write_text("{}")
    with pytest.raises(RecordError, match=r"target\.json, which says where its nodes are, is missing or dam"):
        asyncio.run(launching.stop(record, places(), Quiet()))
