"""The watcher on this machine: samples once a second, the engine's own use, torn lines, and its end."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from remote.onnode import watcher
from remote.onnode.engines import Engines
from remote.onnode.watcher import SampleLog
from tests.remote.node_runner import LocalNode, alive, until

# Holds 64 MiB, reads this interpreter from disk or cache, and stays; its child stays with it.
ENGINE = """
import subprocess, sys, time
held = bytearray(64 << 20)
open(sys.executable, 'rb').read()
subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])
time.sleep(600)
"""


def samples(path: Path) -> list[dict[str, Any]]:
    whole = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [json.loads(line) for line in whole]


def start(local: LocalNode) -> Path:
    """Start the watcher as a run does; the file that it writes."""
    root = local.home / "run"
    (root / "watch").mkdir(parents=True, exist_ok=True)
    path = root / "watch" / "samples.jsonl"
    job = root / "watch" / "job.json"
    job.write_text(json.dumps({"v": 1, "samples": str(path), "root": str(root)}))
    started = local.spawn(f"{root}/watch", *local.argv("watch", str(job)), again=True)
    assert started["ok"], started
    return path


def test_a_sample_a_second_with_everything_in_it(local: LocalNode) -> None:
    path = start(local)
    until(lambda: len(samples(path)) >= 3, "three samples")
    first, second, third = samples(path)[:3]
    assert first["cpu_percent"] is None
    assert 0 <= second["cpu_percent"] <= 100
    assert second["cores"] == os.cpu_count()
    assert 0 < second["ram_available_bytes"] <= second["ram_total_bytes"]
    assert second["nics"]["lo"]["rx_bytes"] >= first["nics"]["lo"]["rx_bytes"]
    assert second["engine"] is None
    assert third["wall_s"] - first["wall_s"] > 1.5
    assert third["mono_s"] - first["mono_s"] > 1.5
    assert first["others"]["cpu_s"] == 0
    assert {event["kind"] for event in samples(path)} == {"node_sample"}


def test_the_engines_processes_are_summed_and_nothing_else(local: LocalNode) -> None:
    directory = f"{local.home}/run/dram-single.1/engine"
    pid = local.spawn(directory, sys.executable, "-c", ENGINE)["pid"]
    path = start(local)
    until(
        lambda: bool(samples(path)) and (samples(path)[-1]["engine"] or {}).get("rss_bytes", 0) > 64 << 20,
        "the engine's memory",
    )
    engine = samples(path)[-1]["engine"]
    assert engine["rss_bytes"] < 1 << 30
    assert engine["rchar"] > 0
    assert engine["cpu_s"] > 0
    local.do("stop", dir=directory, grace_s=0)
    assert not alive(pid)
    until(lambda: samples(path)[-1]["engine"] is None, "no engine")


def test_a_stopped_watcher_is_gone_and_a_started_one_goes_on_in_its_file(local: LocalNode) -> None:
    path = start(local)
    until(lambda: len(samples(path)) >= 1, "a sample")
    pid = local.status(f"{local.home}/run/watch")["pid"]
    local.do("stop-marker", marker="run-1", grace_s=0)
    assert not alive(pid)
    with path.open("ab") as file:
        file.write(b'{"v":1,"kind":"node_sam')  # what a full disk leaves
    torn = path.stat().st_size
    start(local)
    until(lambda: path.read_bytes()[torn:].count(b"\n") >= 3, "samples behind the torn line")
    assert path.read_bytes()[torn : torn + 2] == b"\n{"


def test_a_second_watcher_does_not_write_into_the_same_file(tmp_path: Path) -> None:
    job = tmp_path / "job.json"
    job.write_text(json.dumps({"samples": str(tmp_path / "s"), "root": str(tmp_path)}))
    first = SampleLog(str(tmp_path / "s"))
    assert watcher.main([str(job)]) == 2
    first.write({"n": 1})
    assert [event["n"] for event in samples(tmp_path / "s")] == [1]


@pytest.mark.parametrize("job", ["", "{}", "[]", '{"samples": 1}'])
def test_a_job_that_cannot_be_read_is_said(
    tmp_path: Path, job: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "job.json").write_text(job)
    assert watcher.main([str(tmp_path / "job.json")]) == 2
    assert "cannot start" in capfd.readouterr().err


def test_no_engine_where_there_is_no_run(tmp_path: Path) -> None:
    assert Engines(str(tmp_path / "nothing")).sample() is None


def test_a_watcher_has_the_lowest_priority(local: LocalNode) -> None:
    path = start(local)
    until(lambda: len(samples(path)) >= 1, "a sample")
    pid = local.status(f"{local.home}/run/watch")["pid"]
    assert os.getpriority(os.PRIO_PROCESS, pid) == 19
