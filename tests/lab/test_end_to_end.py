"""The whole benchmark on real engines: vLLM, LMCache and Valkey, over SSH, killed and attached on the way."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from bench.killed_run import killed_run
from bench.place import Place
from bench.record_check import problems
from kvtui.journal import read_events
from kvtui.record import RunRecord, find
from tests.kvtui.plans import LAB_REUSE

pytestmark = [pytest.mark.lab, pytest.mark.timeout(1800)]


def left_alive(root: Path) -> list[str]:
    """Processes that work in kvtui's directories."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if str(root) in command and entry.name != str(os.getpid()):
            found.append(command)
    return found


def rows_of(record: RunRecord) -> dict[tuple[str, str], dict[str, Any]]:
    result = json.loads(record.result.read_text(encoding="utf-8"))
    return {(row["topology"], row["tier"]): row for row in result["rows"]}


def test_the_default_plan_killed_twice_gives_the_whole_result(place: Place) -> None:
    chance = random.Random(7)  # noqa: S311 - moments, not secrets
    run = killed_run([], [chance.uniform(5, 40), chance.uniform(40, 90)], place.env, place.runs)
    assert run.exit_code == 0, run.output
    assert len(run.kills) == 2
    assert problems(run.record) == ()

    rows = rows_of(run.record)
    assert {key: row["reused"] for key, row in rows.items()} == LAB_REUSE
    for (_, tier), row in rows.items():
        assert (row["cold_n"], row["cached_n"], row["unknown"], row["partial"]) == (8, 8, 0, 0)
        if tier != "none" and row["reused"]:
            assert row["reused_bytes"] == 8 * 2048 * 8192
    # Documents of which nothing was reused have no server; the disk's files were made cold, so it served all.
    served = {key: row["served"] for key, row in rows.items()}
    assert served == {key: f"{key[1]} {reused}" if reused else "" for key, reused in LAB_REUSE.items()}
    for title in ("Single:", "Fleet:"):
        assert title in run.output

    result = json.loads(run.record.result.read_text(encoding="utf-8"))
    # One of its tiers is too small on purpose: it is said beforehand, and measured.
    found = [(one["code"], one["where"]) for one in result["findings"] if one["level"] != "info"]
    assert found == [("capacity-too-small", "dram-small"), ("reuse-lost", "dram-small · single")]
    assert left_alive(place.data) == []


def test_what_was_recorded_is_enough_to_judge_it(place: Place) -> None:
    record = find(place.runs, None, unfinished=False)
    events = read_events(record.events)
    environment = json.loads(record.environment.read_text(encoding="utf-8"))
    assert environment["nodes"]["gpu-a"]["engine"]["lmcache"] == "0.5.4"
    assert environment["store"]["version"] == "9.1.1"
    prints = [
        event["record"]
        for event in events
        if event.get("step", "").endswith("/fingerprint") and "record" in event
    ]
    assert len(prints) == 4
    for print_ in prints:
        assert print_["gpu-a"]["none_hashes"] == print_["gpu-b"]["none_hashes"] == ["5625442194607170974"]
        assert print_["gpu-a"]["seeds"] == ["0"]
    cold_disk = [
        event["record"]["page_cache"]
        for event in events
        if event["kind"] == "step_done" and event["step"] == "disk-single-fleet.1/cached/single"
    ]
    assert cold_disk[0]["files"] == (8 + 2 + 2) * 8  # corpus, gate, warm-up
    assert cold_disk[0]["resident_pages_after"] == 0
    for log in (record.path / "logs").iterdir():
        assert log.stat().st_size > 0
    assert list((record.path / "metrics").glob("*.before.vllm.txt"))


def _seeds_that_differ(tmp_path: Path, more: str = "") -> Path:
    text = (Path(__file__).parents[2] / "bench" / "kills.toml").read_text(encoding="utf-8")
    plan = tmp_path / "seed.toml"
    plan.write_text(
        text.replace('seed = "0"', f'seed = "0"\nseed_on = {{gpu-b = "1"}}\n{more}'), encoding="utf-8"
    )
    return plan


def test_a_fleet_whose_seeds_differ_is_marked_when_the_plan_accepts_it(place: Place, tmp_path: Path) -> None:
    plan = _seeds_that_differ(tmp_path, "accept_differing = true")
    ended = place.kvtui("launch", str(plan), "--json")
    assert ended.returncode == 0, ended.stderr
    result = json.loads(ended.stdout)
    told = {(one["level"], one["code"]) for one in result["findings"]}
    assert told >= {("warning", "hash-seed-differs"), ("warning", "fingerprint-differs")}
    differs = next(one for one in result["findings"] if one["code"] == "fingerprint-differs")
    assert "NONE_HASH: gpu-a 5625442194607170974, gpu-b " in differs["text"]
    assert {row["topology"]: row["reused"] for row in result["rows"]} == {"single": 4, "fleet": 0}
    assert left_alive(place.data) == []
