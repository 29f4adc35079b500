"""Runs in a list, and what deleting one refuses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kvtui.cli_history import history_text
from kvtui.errors import RecordError
from kvtui.journal import Journal
from kvtui.record import RunRecord, create
from kvtui.recordings import RECORDED
from kvtui.results import result_of
from kvtui.services.run_list import CUT_OFF, UNREADABLE, RunSummary, list_runs, summary
from kvtui.services.runs import delete_run
from tests.kvtui.plans import lab_plan

BEGUN_S = 1_764_450_000.0


def run(runs: Path, *kinds: str, begun_s: float = BEGUN_S) -> RunRecord:
    """A run whose record holds events of these kinds."""
    record = create(runs, begun_s)
    record.write(record.plan_file, lab_plan().model_dump_json())
    journal = Journal(record.events)
    for kind in kinds:
        journal.append(kind, message="why")
    journal.close()
    return record


def recorded(runs: Path) -> RunRecord:
    """The run that comes with kvtui, as a record of its own."""
    record = create(runs, BEGUN_S)
    record.write(record.plan_file, (RECORDED / "plan.json").read_text())
    record.write(record.events, (RECORDED / "events.jsonl").read_text())
    return record


def write_result(record: RunRecord, **changes: object) -> None:
    """The result as a run writes it at its end, newer than its last event."""
    events = Journal(record.events).events
    record.write_json(record.result, {**result_of(record.run, record.plan(), events).to_json(), **changes})
    later = record.events.stat().st_mtime + 1
    os.utime(record.result, (later, later))


def test_a_run_in_short(tmp_path: Path) -> None:
    record = recorded(tmp_path)
    (found,) = list_runs(tmp_path)
    assert (found.run, found.plan, found.state, found.reason) == (record.run, "lab", "done", "")
    assert found.when_wall_s == BEGUN_S
    assert found.nodes == ("gpu-a", "gpu-b")
    tier, *_, reuse = found.headline.split()
    assert tier in {"dram", "disk", "valkey"}
    assert reuse == "8/8"
    assert found.size_bytes > record.events.stat().st_size


def test_the_written_result_is_used_until_events_come_after_it(tmp_path: Path) -> None:
    record = recorded(tmp_path)
    write_result(record, state="failed", reason="as written")
    assert (summary(record).state, summary(record).reason) == ("failed", "as written")
    later = record.result.stat().st_mtime + 1
    os.utime(record.events, (later, later))
    assert summary(record).state == "done"


@pytest.mark.parametrize(
    ("kinds", "state", "reason"),
    [
        (("run_begin",), CUT_OFF, ""),
        (("run_begin", "run_failed"), "failed", "why"),
        (("run_begin", "run_stopped"), "stopped", "why"),
        (("run_begin", "run_failed", "attached"), CUT_OFF, ""),
    ],
)
def test_states(tmp_path: Path, kinds: tuple[str, ...], state: str, reason: str) -> None:
    found = summary(run(tmp_path, *kinds))
    assert (found.state, found.reason, found.headline) == (state, reason, "")


def test_a_run_that_is_carried_on_is_running_whatever_was_written_before(tmp_path: Path) -> None:
    record = run(tmp_path, "run_begin", "run_failed")
    write_result(record)
    with record.follow():
        assert (summary(record).state, summary(record).reason) == ("running", "")


def test_the_latest_run_comes_first(tmp_path: Path) -> None:
    early, late = run(tmp_path), run(tmp_path, begun_s=BEGUN_S + 60)
    assert [found.run for found in list_runs(tmp_path)] == [late.run, early.run]


@pytest.mark.parametrize("plan", ["", "[]", "{}", '{"name": 1, "nodes": 2}', "\udcff"])
def test_a_record_that_cannot_be_read_is_said_to_be_so(tmp_path: Path, plan: str) -> None:
    record = run(tmp_path, "run_begin")
    record.plan_file.write_bytes(plan.encode("utf-8", "surrogateescape"))
    (found,) = list_runs(tmp_path)
    assert found.state == UNREADABLE
    assert found.reason


def test_damaged_events_are_said_to_be_so(tmp_path: Path) -> None:
    record = run(tmp_path, "run_begin")
    record.events.write_text("nonsense\n")
    assert summary(record).state == UNREADABLE


def test_a_run_that_is_over_can_be_deleted(tmp_path: Path) -> None:
    record = run(tmp_path, "run_begin", "run_done")
    delete_run(record)
    assert not list(tmp_path.iterdir())


def test_a_run_that_is_not_over_is_kept(tmp_path: Path) -> None:
    record = run(tmp_path, "run_begin")
    record.target_file.write_text("{}")
    with pytest.raises(RecordError, match="kvtui stop"):
        delete_run(record)
    assert record.events.exists()


def test_a_run_that_is_followed_is_kept(tmp_path: Path) -> None:
    record = run(tmp_path, "run_begin", "run_done")
    with record.follow(), pytest.raises(RecordError, match="already followed"):
        delete_run(record)
    assert record.events.exists()


def test_a_damaged_record_can_be_deleted(tmp_path: Path) -> None:
    record = run(tmp_path, "run_begin")
    record.events.write_text("nonsense\n")
    delete_run(record)
    assert not record.path.exists()


def test_the_list_as_text() -> None:
    found = RunSummary("251129-1", "a\x1b[31mb", None, (), "done", "", "valkey 6.0× 8/8", 1)
    heading, line = history_text([found]).splitlines()
    assert heading.split() == ["RUN", "WHEN", "PLAN", "STATE", "HEADLINE"]
    assert line.split(maxsplit=4) == ["251129-1", "–", "ab", "done", "valkey 6.0× 8/8"]
    assert "kvtui launch" in history_text([])
