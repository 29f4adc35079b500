"""Starting detached processes, and telling how they are."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from tests.remote.node_runner import LocalNode, alive, answer_of, number_in, until


def test_a_second_spawn_finds_the_process_of_the_first(local: LocalNode) -> None:
    first = local.spawn("d", "sleep", "60")
    second = local.spawn("d", "sleep", "60")
    assert (first["ok"], first["already"]) == (True, False)
    assert (second["ok"], second["already"]) == (True, True)
    assert first["pid"] == second["pid"] == first["pgid"]
    status = local.status("d")
    assert (status["state"], status["pid"], status["exit_code"]) == ("running", first["pid"], None)
    assert 0 < status["lease_left_s"] <= 60


def test_two_spawns_at_once_start_one_process(local: LocalNode, node_home: Path) -> None:
    args = {
        "dir": "d",
        "argv": ["sh", "-c", f"echo x >> {node_home}/started; exec sleep 60"],
        "lease_s": 60,
        "marker": "run-1",
    }
    local.markers.add("run-1")
    both = [answer_of(p) for p in [local.start("spawn", **args) for _ in range(2)]]
    assert {a["pid"] for a in both} == {both[0]["pid"]}
    assert sorted(a["already"] for a in both) == [False, True]
    until(lambda: (node_home / "started").exists(), "the start")
    assert (node_home / "started").read_text() == "x\n"


def test_an_ended_process_is_started_again_only_when_asked(local: LocalNode) -> None:
    local.spawn("d", "sh", "-c", "echo once; exit 3")
    until(lambda: local.status("d")["state"] == "ended", "the end")
    status = local.status("d")
    assert (status["exit_code"], status["reason"], status["log_bytes"]) == (3, "exited", 5)
    refused = local.spawn("d", "true")
    assert (refused["ok"], refused["error"], refused["exit_code"]) == (False, "ended", 3)
    again = local.spawn("d", "sh", "-c", "echo twice; exec sleep 60", again=True)
    assert (again["ok"], again["already"]) == (True, False)
    log = local.home / "d" / "log"
    until(lambda: log.read_text() == "once\ntwice\n", "both lines in the log")
    assert local.status("d")["state"] == "running"


def test_what_cannot_start_says_why(local: LocalNode) -> None:
    missing = local.spawn("d", "/no/such/engine")
    assert (missing["ok"], missing["error"]) == (False, "spawn-failed")
    assert "/no/such/engine: No such file or directory" in missing["message"]
    no_dir = local.spawn("d", "true", cwd="/no/such/dir")
    assert "/no/such/dir: No such file or directory" in no_dir["message"]
    assert local.status("d")["state"] == "absent"
    # The failure is no obstacle to a better attempt.
    assert local.spawn("d", "sleep", "60")["ok"]


def test_a_marker_with_other_characters_is_refused(local: LocalNode) -> None:
    assert local.spawn("d", "true", marker="Run 1")["error"] == "bad-request"


def test_environment_and_place_of_the_process(local: LocalNode, node_home: Path) -> None:
    answer = local.spawn("d", "sh", "-c", "pwd; exec sleep 60", env={"PYTHONHASHSEED": "0"}, cwd="/usr")
    names = ["PYTHONHASHSEED", "KVTUI_RUN", "KVTUI_HOME", "KVTUI_DIR", "NOT_SET"]
    # Until exec has taken place the shell stands there, with the same environment.
    found = local.do("environ", dir="d", names=names)["processes"]
    assert [p["pid"] for p in found] == [answer["pid"]]
    assert found[0]["values"] == {
        "PYTHONHASHSEED": "0",
        "KVTUI_RUN": "run-1",
        "KVTUI_HOME": str(node_home),
        "KVTUI_DIR": str(node_home / "d"),
        "NOT_SET": None,
    }
    until(lambda: (node_home / "d" / "log").read_text() == "/usr\n", "the working directory")
    assert os.getsid(answer["pid"]) == answer["pid"]


def test_a_process_keeps_its_environment_readable(local: LocalNode) -> None:
    local.spawn("d", "sleep", "60")
    found = local.do("environ", dir="d", names=["SPT_NOENV"])["processes"]
    assert found[0]["values"] == {"SPT_NOENV": "1"}


def test_a_process_whose_lease_runs_out_is_ended_with_its_children(local: LocalNode, node_home: Path) -> None:
    script = f"sleep 60 & echo $! > {node_home}/child; wait"
    answer = local.spawn("d", "sh", "-c", script, lease_s=1.0)
    child = number_in(node_home / "child")
    until(lambda: local.status("d")["state"] == "ended", "the end of the lease")
    assert local.status("d")["reason"] == "lease"
    assert not alive(answer["pid"])
    assert not alive(child)


def test_a_renewed_lease_does_not_run_out(local: LocalNode, node_home: Path) -> None:
    local.spawn("d", "sleep", "60", lease_s=60)
    lease = node_home / "d" / "lease"
    os.utime(lease, (0, lease.stat().st_mtime - 50))
    assert local.status("d")["lease_left_s"] < 11
    assert local.do("renew", dirs=["d", "absent"])["renewed"] == 1
    assert local.status("d")["lease_left_s"] > 50


def test_a_helper_that_outlives_its_parent_is_ended(local: LocalNode, node_home: Path) -> None:
    local.spawn("d", "sh", "-c", f"sleep 60 & echo $! > {node_home}/child; exit 0")
    child = number_in(node_home / "child")
    until(lambda: local.status("d")["state"] == "ended", "the end")
    assert local.status("d")["exit_code"] == 0
    assert not alive(child)


def test_a_process_without_keeper_and_end_is_lost(local: LocalNode, node_home: Path) -> None:
    answer = local.spawn("d", "sleep", "60")
    state = json.loads((node_home / "d" / "state.json").read_text())
    os.kill(state["keeper_pid"], signal.SIGKILL)
    until(lambda: not alive(state["keeper_pid"]), "the end of the keeper")
    assert local.status("d")["state"] == "running"
    os.kill(answer["pid"], signal.SIGKILL)
    until(lambda: local.status("d")["state"] == "lost", "the loss")
    assert local.do("stop", dir="d", grace_s=1)["stopped"]
    assert local.status("d")["reason"] == "stopped"


def test_what_a_killed_keeper_left_alive_makes_way_for_a_new_start(local: LocalNode, node_home: Path) -> None:
    local.spawn("d", "sh", "-c", f"sleep 60 & echo $! > {node_home}/child; wait")
    child = number_in(node_home / "child")
    state = json.loads((node_home / "d" / "state.json").read_text())
    for pid in (state["keeper_pid"], state["pid"]):
        os.kill(pid, signal.SIGKILL)
    until(lambda: local.status("d")["state"] == "lost", "the loss")
    assert alive(child)
    assert local.spawn("d", "sleep", "60")["error"] == "ended"
    assert local.spawn("d", "sleep", "60", again=True)["ok"]
    assert not alive(child)


def test_a_pid_from_before_a_boot_is_not_a_live_process(local: LocalNode, node_home: Path) -> None:
    local.spawn("d", "sleep", "60")
    path = node_home / "d" / "state.json"
    state = json.loads(path.read_text())
    path.write_text(json.dumps({**state, "boot_id": "another"}))
    assert local.status("d")["state"] == "lost"
    path.write_text(json.dumps({**state, "start_ticks": 1, "keeper_start_ticks": 1}))
    assert local.status("d")["state"] == "lost"
    path.write_text(json.dumps(state))
    assert local.status("d")["state"] == "running"
