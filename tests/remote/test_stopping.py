"""Ending detached processes, with proof."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from remote.onnode import ending, procfs
from tests.remote.node_runner import LocalNode, alive, number_in, until


def test_stop_ends_and_may_be_repeated(local: LocalNode) -> None:
    answer = local.spawn("d", "sleep", "60")
    assert local.do("stop", dir="d", grace_s=5) == {"ok": True, "stopped": True, "killed": False}
    assert not alive(answer["pid"])
    status = local.status("d")
    assert (status["state"], status["reason"], status["exit_code"]) == ("ended", "stopped", -15)
    assert local.do("stop", dir="d", grace_s=5)["killed"] is False
    assert local.do("stop", dir="absent", grace_s=5)["stopped"]


def test_a_process_that_ignores_term_is_killed(local: LocalNode, node_home: Path) -> None:
    answer = local.spawn(
        "d", "sh", "-c", f"trap '' TERM; echo $$ > {node_home}/up; while :; do sleep 60; done"
    )
    number_in(node_home / "up")
    assert local.do("stop", dir="d", grace_s=0.2)["killed"] is True
    assert not alive(answer["pid"])
    assert local.status("d")["exit_code"] == -9


def test_children_are_ended_also_those_that_left_the_group(local: LocalNode, node_home: Path) -> None:
    script = (
        f"sleep 60 & echo $! > {node_home}/child;"
        f" setsid sh -c 'echo $$ > {node_home}/loner; exec sleep 60' & wait"
    )
    local.spawn("d", "sh", "-c", script)
    pids = [number_in(node_home / name) for name in ("child", "loner")]
    assert os.getsid(pids[1]) == pids[1]
    local.do("stop", dir="d", grace_s=5)
    assert [alive(pid) for pid in pids] == [False, False]


def test_a_process_that_hides_its_environment_is_found_by_its_group(
    local: LocalNode, node_home: Path
) -> None:
    local.spawn("d", "sh", "-c", f"env -i sleep 60 & echo $! > {node_home}/child; wait")
    child = number_in(node_home / "child")
    until(lambda: procfs.environ(child) == {}, "the empty environment")
    local.do("stop", dir="d", grace_s=5)
    assert not alive(child)


def test_a_frozen_process_is_ended(local: LocalNode, node_home: Path) -> None:
    answer = local.spawn("d", "sh", "-c", "kill -STOP $$; exec sleep 60")
    assert local.do("stop", dir="d", grace_s=5)["stopped"]
    assert not alive(answer["pid"])


def test_stop_marker_ends_its_run_in_its_home_only(local: LocalNode, tmp_path: Path) -> None:
    other_home = tmp_path / "other"
    other_home.mkdir()
    other = LocalNode(other_home)
    try:
        ours = [local.spawn(name, "sleep", "60")["pid"] for name in ("a", "b")]
        another_run = local.spawn("c", "sleep", "60", marker="run-2")["pid"]
        another_home = other.spawn("a", "sleep", "60")["pid"]
        assert local.do("stop-marker", marker="run-1", grace_s=5)["count"] == 2
        assert [alive(pid) for pid in ours] == [False, False]
        assert [alive(pid) for pid in (another_run, another_home)] == [True, True]
        assert [local.status(name)["reason"] for name in ("a", "b")] == ["stopped", "stopped"]
        assert local.do("stop-marker", marker="run-1", grace_s=5)["count"] == 0
        assert local.ask("stop-marker", marker="", grace_s=5)["error"] == "bad-request"
    finally:
        other.sweep()


def test_a_process_that_is_just_being_started_is_ended_too(local: LocalNode, node_home: Path) -> None:
    local.markers.add("run-1")
    starting = local.start("spawn", dir="d", argv=["sleep", "60"], lease_s=60, marker="run-1")
    # The record is there as soon as the keeper is being started; its process follows later.
    until(lambda: (node_home / "d" / "spec.json").exists(), "the record")
    until(lambda: bool(keepers(node_home)), "the keeper")
    starting.kill()
    starting.communicate()
    local.do("stop-marker", marker="run-1", grace_s=5)
    assert keepers(node_home) == []
    assert local.status("d")["state"] in ("ended", "absent")


def keepers(home: Path) -> list[procfs.Stat]:
    return procfs.having(lambda values: "KVTUI_KEEPS" in values and values.get("KVTUI_HOME") == str(home))


def test_no_keeper_is_left_after_a_stop(local: LocalNode, node_home: Path) -> None:
    local.spawn("d", "sleep", "60")
    local.do("stop", dir="d", grace_s=5)
    command_lines = [Path(f"/proc/{pid}/cmdline") for pid in procfs.pids()]
    for path in command_lines:
        try:
            assert str(node_home).encode() not in path.read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue


def test_what_survives_is_named() -> None:
    child = subprocess.Popen(["sleep", "60"])
    try:
        stat = procfs.stat(child.pid)
        assert stat is not None
        # A number that belongs to another process by now is never signalled, so this one survives.
        foreign = stat._replace(start_ticks=stat.start_ticks - 1)
        kept = ending.KILL_WAIT_S
        ending.KILL_WAIT_S = 0.1
        try:
            result = ending.end(lambda: [foreign], 0.1)
        finally:
            ending.KILL_WAIT_S = kept
        assert result == ending.Ending(True, [foreign])
        assert child.poll() is None
    finally:
        child.kill()
        child.wait()
