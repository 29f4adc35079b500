"""What goes wrong ends in one sentence, the right exit code, and nothing left on the node."""

from __future__ import annotations

import asyncio
import json
import re
import signal
from pathlib import Path

import pytest

from kvtui.record import records
from tests.campaign.conftest import Ended, Operator
from tests.remote.waiting import reached

TRACEBACK = re.compile(r"Traceback|File \"")


def last_line(ended: Ended) -> str:
    return ended.stderr.strip().splitlines()[-1]


def check(ended: Ended, code: int, *said: str) -> None:
    assert ended.code == code, ended.stderr
    assert not TRACEBACK.search(ended.stderr + ended.stdout)
    assert "\x1b" not in ended.stderr + ended.stdout
    for words in said:
        assert words in last_line(ended)


def processes_of(home: Path) -> list[str]:
    """Command lines of living processes that belong to the node."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environ, command = (entry / "environ").read_bytes(), (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if f"KVTUI_HOME={home}".encode() in environ and command:
            found.append(command.decode())
    return found


def assert_nothing_left(operator: Operator) -> None:
    assert processes_of(operator.node.home) == []
    assert not list((operator.node.home / ".kvtui" / "runs").glob("*"))
    assert not (operator.node.home / ".kvtui" / "lock.json").exists()


async def test_a_plan_that_is_not_there(operator: Operator) -> None:
    check(await operator.kvtui("launch", "nowhere.toml"), 2, "There is no plan nowhere.toml")


async def test_a_plan_with_a_capacity_of_nothing_and_a_field_that_nobody_knows(operator: Operator) -> None:
    plan = operator.write_plan()
    plan.write_text(plan.read_text().replace("capacity_gib = 1", "capacity_gib = 0\nspeed = 9"))
    check(await operator.kvtui("launch", plan), 2, "tiers[1].capacity_gib", "tiers[1].speed: unknown field")


async def test_a_node_that_cannot_be_reached(operator: Operator) -> None:
    plan = operator.write_plan()
    await operator.node.stop()
    ended = await operator.kvtui("launch", plan)
    check(ended, 3, "gpu-a")
    assert "Not undone" not in ended.stderr


async def test_a_host_key_that_nobody_has_seen(operator: Operator) -> None:
    plan = operator.write_plan()
    operator.node.keys.known_hosts.write_text("")
    check(await operator.kvtui("launch", plan), 3, "gpu-a", "key")


async def test_a_node_without_python(operator: Operator) -> None:
    plan = operator.write_plan()
    operator.node.env["PATH"] = "/nowhere"
    check(await operator.kvtui("launch", plan), 5, "gpu-a", "python3")


async def test_an_engine_environment_that_is_not_there_or_lacks_something(operator: Operator) -> None:
    plan = operator.write_plan(engine="/nowhere/python")
    check(await operator.kvtui("launch", plan), 5, "gpu-a", "/nowhere/python")
    assert_nothing_left(operator)
    half = operator.engine()
    half.write_text('#!/bin/sh\necho \'{"python": "3.11", "lmcache": "0.5.4"}\'\n')
    plan.write_text(plan.read_text().replace("/nowhere/python", str(half)))
    check(await operator.kvtui("launch", plan), 5, "lacks", "vllm", "valkey-glide-sync")
    assert_nothing_left(operator)


async def test_a_model_that_is_not_there(operator: Operator) -> None:
    plan = operator.write_plan(model="/nowhere/model")
    engine = operator.engine()
    engine.write_text(engine.read_text().replace('== "-c"', '== "-c" and len(sys.argv) > 4'))
    check(await operator.kvtui("launch", plan), 5, "gpu-a", "/nowhere/model")
    assert_nothing_left(operator)


async def test_a_model_whose_kv_nobody_knows(operator: Operator) -> None:
    plan = operator.write_plan()
    (operator.home / "model" / "config.json").write_text('{"architectures": ["MambaForCausalLM"]}')
    check(await operator.kvtui("launch", plan), 5, "MambaForCausalLM")
    assert_nothing_left(operator)


async def test_a_store_that_does_not_answer(operator: Operator) -> None:
    check(await operator.kvtui("launch", operator.write_plan(kind="valkey")), 5, "Valkey", "127.0.0.1:1")
    assert_nothing_left(operator)


async def test_a_password_that_is_not_set(operator: Operator) -> None:
    plan = operator.write_plan(kind="valkey")
    plan.write_text(plan.read_text().replace("port = 1", 'port = 1\npassword_env = "NOT_SET"'))
    check(await operator.kvtui("launch", plan), 2, "NOT_SET")


async def test_an_engine_that_fails_says_why_and_leaves_nothing(operator: Operator) -> None:
    operator.engine("raise ValueError('the card is full')")
    plan = operator.write_plan()
    ended = await operator.kvtui("launch", plan)
    check(ended, 1, "gpu-a", "exit code 1", "ValueError: the card is full")
    assert "failed" in ended.stdout
    assert_nothing_left(operator)


async def test_an_engine_that_never_serves(operator: Operator) -> None:
    operator.engine("import time; print('loading', flush=True); time.sleep(600)")
    plan = operator.write_plan()
    plan.write_text(plan.read_text().replace("start_timeout_s = 20", "start_timeout_s = 4"))
    check(await operator.kvtui("launch", plan), 4, "gpu-a", "does not serve", "loading")
    assert_nothing_left(operator)


def serving(model: str, first: str = "") -> str:
    """An engine that says something and then answers for a model."""
    return (
        "from http.server import BaseHTTPRequestHandler, HTTPServer\n"
        f"print({first!r}, flush=True)\n"
        "class H(BaseHTTPRequestHandler):\n"
        "    def do_GET(self):\n"
        "        self.send_response(200); self.end_headers()\n"
        f'        self.wfile.write(b\'{{"data": [{{"id": "{model}"}}]}}\')\n'
        "HTTPServer(('127.0.0.1', port), H).serve_forever()"
    )


async def test_an_engine_that_serves_another_model(operator: Operator) -> None:
    operator.engine(serving("another"))
    plan = operator.write_plan()
    check(await operator.kvtui("launch", plan), 1, "gpu-a", "'another'", "'tiny'")
    assert_nothing_left(operator)


async def test_an_engine_whose_lmcache_gave_up_is_found_though_it_serves(operator: Operator) -> None:
    said = "Failed during post_init: gone. System will operate in degraded mode (recompute)."
    operator.engine(
        serving("tiny", f"[2026-11-29 17:00:00,123] LMCache ERROR: {said} (manager.py:9:lmcache)")
    )
    check(await operator.kvtui("launch", operator.write_plan()), 1, "LMCache failed to start on gpu-a")
    (record,) = records(operator.home / ".local" / "share" / "kvtui" / "runs")
    findings = json.loads(record.result.read_text())["findings"]
    assert [(one["level"], one["code"]) for one in findings if one["level"] != "info"] == [
        ("blocking", "engine-degraded"),
        ("blocking", "lmcache-degraded"),
    ]
    assert_nothing_left(operator)


async def test_a_node_that_another_run_has(operator: Operator) -> None:
    operator.engine("import time; time.sleep(600)")
    plan = operator.write_plan()
    first = await operator.start("launch", plan)
    lock = operator.node.home / ".kvtui" / "lock.json"
    await reached(lock.exists)
    check(await operator.kvtui("launch", plan), 5, "is taken by run")
    first.send_signal(signal.SIGINT)
    await first.communicate()
    assert first.returncode == 130
    assert_nothing_left(operator)


async def test_ctrl_c_while_an_engine_starts(operator: Operator) -> None:
    operator.engine("import time; time.sleep(600)")
    process = await operator.start("launch", operator.write_plan())
    await reached(lambda: any("engine-python" in command for command in processes_of(operator.node.home)))
    process.send_signal(signal.SIGINT)
    stdout, stderr = await process.communicate()
    ended = Ended(process.returncode or 0, stdout.decode(), stderr.decode())
    check(ended, 130, "was stopped; what it measured is kept")
    assert_nothing_left(operator)


async def test_a_run_whose_kvtui_was_killed_can_be_stopped(operator: Operator) -> None:
    operator.engine("import time; time.sleep(600)")
    process = await operator.start("launch", operator.write_plan())
    await reached(lambda: any("engine-python" in command for command in processes_of(operator.node.home)))
    process.kill()
    await process.wait()
    assert processes_of(operator.node.home) != []
    check(await operator.kvtui("stop"), 0, "is stopped")
    assert_nothing_left(operator)
    check(await operator.kvtui("stop"), 2, "No run is under way")
    check(await operator.kvtui("attach"), 2, "No run is under way")


async def test_a_run_that_somebody_follows_is_stopped_by_its_follower(operator: Operator) -> None:
    operator.engine("import time; time.sleep(600)")
    process = await operator.start("launch", operator.write_plan())
    await reached(lambda: any("engine-python" in command for command in processes_of(operator.node.home)))
    check(await operator.kvtui("attach"), 2, "is already followed by process")
    check(await operator.kvtui("stop"), 0, "is stopped")
    await process.communicate()
    assert process.returncode == 130
    assert_nothing_left(operator)


async def test_what_a_login_shell_prints_does_no_harm(operator: Operator) -> None:
    (operator.node.home / ".profile").write_text("echo Welcome to gpu-a\n")
    (operator.node.home / ".bashrc").write_text("echo Welcome to gpu-a\n")
    operator.engine("raise ValueError('the card is full')")
    plan = operator.write_plan()
    check(await operator.kvtui("launch", plan), 1, "the card is full")


@pytest.mark.parametrize("arguments", [["attach", "nothing"], ["stop", "nothing"]])
async def test_a_run_that_does_not_exist(operator: Operator, arguments: list[str]) -> None:
    check(await operator.kvtui(*arguments), 2, "'nothing' fits no run")


async def test_the_traceback_is_in_the_log_that_the_message_names(operator: Operator) -> None:
    ended = await operator.kvtui("launch", "nowhere.toml")
    logs = list(operator.home.rglob("kvtui.log"))
    assert len(logs) == 1
    assert "PlanError" in logs[0].read_text()
    assert f"(Details: {logs[0]})" in last_line(ended)


async def test_the_light_commands(operator: Operator) -> None:
    version, located, size, broken = await asyncio.gather(
        operator.kvtui("--version"),
        operator.kvtui("locate"),
        operator.kvtui("size", operator.write_plan().parent / "model" / "config.json", "--dtype", "float32"),
        operator.kvtui("size", "nowhere.json"),
    )
    assert version.stdout.startswith("kvtui 0.")
    assert {line.split()[0] for line in located.stdout.splitlines()} == {
        "config",
        "runs",
        "lab",
        "engine",
        "state",
        "plans",
        "log",
    }
    assert size.stdout.splitlines() == [
        "8,192 bytes a token",
        "2,097,152 bytes a chunk of 256 tokens (2 MiB)",
    ]
    check(broken, 2, "There is no file nowhere.json")
