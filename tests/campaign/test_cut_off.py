"""Runs that are cut off: killed, attached, with engines and probes that die meanwhile."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import time
from pathlib import Path

import pytest

from bench.record_check import problems
from kvtui.journal import Event, read_events
from kvtui.record import RunRecord
from tests.campaign.conftest import Operator
from tests.campaign.test_bad_input import assert_nothing_left, check, processes_of
from tests.remote.waiting import reached

STAND_IN = Path(__file__).parent / "stand_in_engine.py"


@pytest.fixture
def plan(operator: Operator) -> Path:
    """Two documents without a cache, sent to an engine that only walks the steps."""
    operator.engine(f"import runpy; runpy.run_path({str(STAND_IN)!r}, run_name='__main__')")
    path = operator.write_plan(kind="none")
    text = path.read_text().replace("capacity_gib = 1", "").replace("documents = 2", "documents = 6")
    path.write_text(text)
    return path


def record(operator: Operator) -> RunRecord:
    runs = list((operator.home / ".local" / "share" / "kvtui" / "runs").glob("*"))
    assert len(runs) == 1
    return RunRecord(runs[0])


def events(operator: Operator) -> tuple[Event, ...]:
    runs = operator.home / ".local" / "share" / "kvtui" / "runs"
    return read_events(record(operator).events) if runs.exists() and list(runs.glob("*")) else ()


async def until(operator: Operator, kind: str, step: str, count: int = 1) -> None:
    """Wait until a run has so many events of a kind that name a step."""

    def seen() -> bool:
        fitting = [
            event
            for event in events(operator)
            if event["kind"] == kind and step in f"{event.get('step', '')}{event['src']}"
        ]
        return len(fitting) >= count

    await reached(seen)


async def killed_after(operator: Operator, plan: Path, kind: str, step: str, count: int = 1) -> None:
    """Launch a run, and kill kvtui once there are so many events of a kind that name a step."""
    process = await operator.start("launch", plan)
    await until(operator, kind, step, count)
    process.kill()
    await process.wait()


def kill_processes(operator: Operator, word: str) -> None:
    """Kill the node's processes with a word in their command line; there must be one."""
    killed = 0
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            mine = f"KVTUI_HOME={operator.node.home}".encode() in (entry / "environ").read_bytes()
            command = (entry / "cmdline").read_bytes().decode()
        except OSError:
            continue
        if mine and word in command:
            os.kill(int(entry.name), signal.SIGKILL)
            killed += 1
    assert killed


async def test_a_run_from_start_to_end(operator: Operator, plan: Path) -> None:
    ended = await operator.kvtui("launch", plan, "--json")
    assert ended.code == 0, ended.stderr
    row = json.loads(ended.stdout)["rows"][0]
    assert (row["cold_n"], row["cached_n"], row["reused"], row["unknown"]) == (6, 6, 0, 0)
    assert problems(record(operator)) == ()
    samples = [event for event in events(operator) if event["kind"] == "node_sample"]
    assert {event["src"] for event in samples} == {"gpu-a:watch"}
    assert any(event["engine"] is not None for event in samples)
    assert_nothing_left(operator)


async def test_a_pass_goes_on_while_kvtui_is_dead(operator: Operator, plan: Path) -> None:
    await killed_after(operator, plan, "done", "single.cold", 1)
    before = len(events(operator))
    away_s = events(operator)[-1]["wall_s"]
    pass_events = next((operator.node.home / ".kvtui" / "runs").rglob("single.cold/events.jsonl"))
    await reached(lambda: b"pass_end" in pass_events.read_bytes())
    assert len(events(operator)) == before
    back_s = time.time()
    ended = await operator.kvtui("attach")
    assert ended.code == 0, ended.stderr
    assert problems(record(operator)) == ()
    times = [event["wall_s"] for event in events(operator) if event["src"] == "gpu-a:watch"]
    assert times == sorted(set(times))
    assert any(away_s < time_s < back_s for time_s in times)
    assert times[-1] > back_s
    assert_nothing_left(operator)


async def test_a_block_whose_engine_died_meanwhile_is_measured_anew(operator: Operator, plan: Path) -> None:
    await killed_after(operator, plan, "step_done", "cold")
    kill_processes(operator, "engine-python")
    ended = await operator.kvtui("attach", "--json")
    assert ended.code == 0, ended.stderr
    assert "are gone, so its passes are measured anew" in ended.stderr
    assert problems(record(operator)) == ()
    row = json.loads(ended.stdout)["rows"][0]
    assert (row["cold_n"], row["cached_n"]) == (6, 6)
    assert_nothing_left(operator)


async def test_a_probe_that_was_killed_keeps_what_it_measured(operator: Operator, plan: Path) -> None:
    await killed_after(operator, plan, "done", "single.cold", 2)
    kill_processes(operator, "job.json")
    ended = await operator.kvtui("attach")
    assert ended.code == 0, ended.stderr
    assert problems(record(operator)) == ()
    assert_nothing_left(operator)


async def test_a_watcher_that_was_killed_is_started_anew_and_its_samples_go_on(
    operator: Operator, plan: Path
) -> None:
    shorten_lease(plan)  # so that the nodes are claimed again soon
    process = await operator.start("launch", plan)
    await until(operator, "node_sample", "gpu-a:watch", 1)
    kill_processes(operator, "watch/job.json")
    await process.wait()
    assert problems(record(operator)) == ()
    assert_nothing_left(operator)


async def test_a_link_that_is_cut_for_a_while_costs_nothing(operator: Operator, plan: Path) -> None:
    process = await operator.start("launch", plan)
    await until(operator, "done", "single.cold", 1)
    await operator.node.stop()
    await asyncio.sleep(1)  # the length of the cut, not a wait for anything
    await operator.node.start()
    _, stderr = await process.communicate()
    assert process.returncode == 0, stderr.decode()
    assert re.search(r"connection to gpu-a .*is lost, trying again", stderr.decode())
    assert re.search(r"connection to gpu-a .*is back\.", stderr.decode())
    assert problems(record(operator)) == ()
    assert_nothing_left(operator)


async def test_ctrl_c_in_a_pass_keeps_what_was_measured(operator: Operator, plan: Path) -> None:
    process = await operator.start("launch", plan)
    await until(operator, "done", "single.cold", 2)
    process.send_signal(signal.SIGINT)
    stdout, _ = await process.communicate()
    assert process.returncode == 130
    assert "stopped" in stdout.decode()
    kept = [event for event in events(operator) if event["kind"] == "done" and "single.cold" in event["src"]]
    assert len(kept) >= 2
    assert_nothing_left(operator)


async def test_two_runs_never_share_a_record(operator: Operator, plan: Path) -> None:
    for _ in range(2):
        ended = await operator.kvtui("launch", plan)
        assert ended.code == 0, ended.stderr
    runs = list((operator.home / ".local" / "share" / "kvtui" / "runs").glob("*"))
    assert len(runs) == 2
    assert all(problems(RunRecord(path)) == () for path in runs)


async def test_a_finished_run_is_attached_in_vain_but_shows_its_result(
    operator: Operator, plan: Path
) -> None:
    await operator.kvtui("launch", plan)
    run = record(operator).run
    ended = await operator.kvtui("attach", run)
    assert ended.code == 0, ended.stderr
    assert f"Run {run}: done." in ended.stdout
    assert processes_of(operator.node.home) == []
    check(await operator.kvtui("stop", run), 2, "is over: done")


def shorten_lease(plan: Path) -> None:
    plan.write_text(
        plan.read_text().replace("start_timeout_s = 20", "start_timeout_s = 20\nlease_min = 0.15")
    )


async def test_an_engine_that_nobody_claims_ends_after_its_lease(operator: Operator, plan: Path) -> None:
    shorten_lease(plan)
    await killed_after(operator, plan, "done", "single.cold", 1)
    await reached(lambda: processes_of(operator.node.home) == [])
    ended = await operator.kvtui("attach")
    assert ended.code == 0, ended.stderr
    assert problems(record(operator)) == ()
    assert_nothing_left(operator)


async def test_an_engine_that_died_while_it_started_is_started_anew(operator: Operator, plan: Path) -> None:
    good = operator.saved()
    operator.engine("import time; time.sleep(600)")
    process = await operator.start("launch", plan)
    await reached(lambda: any("engine-python" in command for command in processes_of(operator.node.home)))
    process.kill()
    await process.wait()
    kill_processes(operator, "engine-python")
    operator.restore(good)
    ended = await operator.kvtui("attach")
    assert ended.code == 0, ended.stderr
    assert problems(record(operator)) == ()
    assert_nothing_left(operator)


async def test_a_failed_run_is_taken_up_again_once_its_fault_is_mended(
    operator: Operator, plan: Path
) -> None:
    good = operator.saved()
    operator.engine(
        "print('LMCache ERROR: gone. System will operate in degraded mode (recompute).'); raise SystemExit(3)"
    )
    assert (await operator.kvtui("launch", plan)).code == 1
    operator.restore(good)
    ended = await operator.kvtui("attach", record(operator).run)
    assert ended.code == 0, ended.stderr
    assert {"gpu-a:watch", "gpu-a:watch.2"} <= {event["src"] for event in events(operator)}
    assert problems(record(operator)) == ()
    assert_nothing_left(operator)


async def test_a_stop_that_could_not_reach_a_node_can_be_repeated(operator: Operator, plan: Path) -> None:
    await killed_after(operator, plan, "done", "single.cold", 1)
    await operator.node.stop()
    check(await operator.kvtui("stop"), 1, "not all of it could be ended", "kvtui stop")
    await operator.node.start()
    check(await operator.kvtui("stop", record(operator).run), 0, "is stopped")
    assert_nothing_left(operator)


def damage(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"nonsense\n")


async def test_a_damaged_record_is_said_in_one_sentence(operator: Operator, plan: Path) -> None:
    assert (await operator.kvtui("launch", plan)).code == 0
    damage(record(operator).events)
    check(await operator.kvtui("attach", record(operator).run), 2, "is not JSON")
