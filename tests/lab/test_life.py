"""A lab starts once, ends whole, and never depends on who started it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable

import pytest

from remote import lab
from remote.errors import LabError
from remote.lab import info, locks, members
from remote.lab.paths import LabPaths
from tests.lab import helpers

Ids = set[str]


def silent(line: str) -> None:
    """Take progress and say nothing."""


async def start(paths: LabPaths, parts: lab.LabParts, ids: Ids, **options: float) -> lab.LabInfo:
    described = await lab.up(paths, silent, lambda: parts, **options)
    ids.add(described.lab_id)
    return described


async def start_stand_in_engine(described: lab.LabInfo, paths: LabPaths) -> int:
    """Start what an engine is to the lab: a long process in a session of its own, on a node."""
    async with helpers.connect(described.nodes["gpu-a"]) as connection:
        await connection.run(helpers.detached("sleep 300", "engine"))
    return await helpers.wait_for_pid(paths.home("gpu-a") / "engine")


def gone(described: lab.LabInfo) -> Callable[[], bool]:
    return lambda: not members.find(described.lab_id)


async def test_up_gives_three_nodes_and_a_store(paths: LabPaths, parts: lab.LabParts, lab_ids: Ids) -> None:
    described = await start(paths, parts, lab_ids)
    for name in lab.NODE_NAMES:
        async with helpers.connect(described.nodes[name]) as connection:
            done = await connection.run('basename "$HOME"')
        assert done.stdout == f"{name}\n"
    status = await lab.status(paths)
    assert (status.state, status.store_serving, status.problems) == ("up", True, ())
    assert paths.info.stat().st_mode & 0o777 == 0o600


async def test_down_leaves_no_process_and_no_port(paths: LabPaths, parts: lab.LabParts, lab_ids: Ids) -> None:
    described = await start(paths, parts, lab_ids)
    engine = await start_stand_in_engine(described, paths)
    assert await lab.down(paths, silent) is True
    assert members.find(described.lab_id) == []
    assert not helpers.lives(engine)
    for port in (*described.ssh_ports.values(), described.store.port):
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", port)) != 0
    assert (await lab.status(paths)).state == "down"
    assert await lab.down(paths, silent) is False


async def test_down_where_there_never_was_a_lab(paths: LabPaths) -> None:
    assert await lab.down(paths, silent) is False
    assert not paths.root.exists()


async def test_up_twice_is_one_lab(paths: LabPaths, parts: lab.LabParts, lab_ids: Ids) -> None:
    first, second = await asyncio.gather(start(paths, parts, lab_ids), start(paths, parts, lab_ids))
    assert first == second
    assert await start(paths, parts, lab_ids) == first


async def test_up_in_two_processes_at_once_is_one_lab(
    paths: LabPaths, parts: lab.LabParts, lab_ids: Ids
) -> None:
    starters = [await helpers.start_elsewhere(paths, parts) for _ in range(3)]
    outputs = [(await starter.communicate())[0].decode().strip() for starter in starters]
    lab_ids.update(outputs)
    assert len(set(outputs)) == 1
    # The ones that started it have ended, and the lab lives on.
    assert (await lab.status(paths)).state == "up"


async def test_killing_whoever_started_it_does_nothing(
    paths: LabPaths, parts: lab.LabParts, lab_ids: Ids
) -> None:
    starter = await helpers.start_elsewhere(paths, parts, then="os.killpg(0, signal.SIGKILL)")
    assert await starter.wait() == -signal.SIGKILL
    status = await lab.status(paths)
    assert status.info is not None
    lab_ids.add(status.info.lab_id)
    assert (status.state, status.problems) == ("up", ())
    async with helpers.connect(status.info.nodes["gpu-b"]) as connection:
        assert (await connection.run("echo alive")).stdout == "alive\n"


async def test_the_guard_ends_everything_when_the_daemon_is_killed(
    paths: LabPaths, parts: lab.LabParts, lab_ids: Ids
) -> None:
    described = await start(paths, parts, lab_ids)
    engine = await start_stand_in_engine(described, paths)
    os.kill(described.daemon_pid, signal.SIGKILL)
    await helpers.eventually(gone(described), "the guard has ended the lab and itself")
    assert not helpers.lives(engine)
    assert not paths.info.exists()


async def test_the_daemon_ends_everything_when_the_guard_is_killed(
    paths: LabPaths, parts: lab.LabParts, lab_ids: Ids
) -> None:
    described = await start(paths, parts, lab_ids)
    engine = await start_stand_in_engine(described, paths)
    os.kill(described.guard_pid, signal.SIGKILL)
    await helpers.eventually(gone(described), "the daemon has ended the lab and itself")
    assert not helpers.lives(engine)
    assert not paths.info.exists()


async def test_a_lab_that_died_whole_is_cleaned_up_by_the_next_up(
    paths: LabPaths, parts: lab.LabParts, lab_ids: Ids
) -> None:
    described = await start(paths, parts, lab_ids)
    engine = await start_stand_in_engine(described, paths)
    os.kill(described.daemon_pid, signal.SIGSTOP)
    os.kill(described.guard_pid, signal.SIGKILL)
    os.kill(described.daemon_pid, signal.SIGKILL)
    await helpers.eventually(lambda: not locks.is_held(paths.daemon_lock), "the daemon is dead")
    status = await lab.status(paths)
    assert status.state == "dead"
    assert "daemon has died" in status.problems[0]
    again = await start(paths, parts, lab_ids)
    assert again.lab_id != described.lab_id
    assert not helpers.lives(engine)
    assert members.find(described.lab_id) == []
    assert (await lab.status(paths)).state == "up"


async def test_down_cleans_up_after_a_lab_that_died_whole(
    paths: LabPaths, parts: lab.LabParts, lab_ids: Ids
) -> None:
    described = await start(paths, parts, lab_ids)
    os.kill(described.daemon_pid, signal.SIGSTOP)
    os.kill(described.guard_pid, signal.SIGKILL)
    os.kill(described.daemon_pid, signal.SIGKILL)
    assert await lab.down(paths, silent) is True
    assert members.find(described.lab_id) == []


async def test_the_description_of_a_lab_before_a_reboot_is_no_lab(
    paths: LabPaths, parts: lab.LabParts, lab_ids: Ids
) -> None:
    described = await start(paths, parts, lab_ids)
    text = paths.info.read_text()
    await lab.down(paths, silent)
    # After a reboot the file is there, and its pids belong to strangers: here, to this test.
    stale = text.replace(f'"daemon_pid": {described.daemon_pid}', f'"daemon_pid": {os.getpid()}')
    paths.info.write_text(stale)
    assert (await lab.status(paths)).state == "dead"
    again = await start(paths, parts, lab_ids)
    assert again.lab_id != described.lab_id


async def test_a_description_that_makes_no_sense_is_no_lab(
    paths: LabPaths, parts: lab.LabParts, lab_ids: Ids
) -> None:
    paths.root.mkdir()
    paths.info.write_text('{"v": 1, "nodes": 3}')
    assert (await lab.status(paths)).state == "down"
    await start(paths, parts, lab_ids)


async def test_status_says_that_valkey_has_ended(paths: LabPaths, parts: lab.LabParts, lab_ids: Ids) -> None:
    described = await start(paths, parts, lab_ids)
    os.kill(described.store.pid, signal.SIGKILL)
    await helpers.eventually(lambda: not helpers.lives(described.store.pid), "Valkey has ended")
    status = await lab.status(paths)
    assert (status.state, status.store_serving) == ("up", False)
    assert "Valkey server has ended" in status.problems[0]


async def test_status_names_what_runs_on_the_nodes(
    paths: LabPaths, parts: lab.LabParts, lab_ids: Ids
) -> None:
    described = await start(paths, parts, lab_ids)
    engine = await start_stand_in_engine(described, paths)
    assert (engine, "sleep") in (await lab.status(paths)).processes


async def test_an_idle_lab_ends_itself_and_a_used_one_does_not(
    paths: LabPaths, parts: lab.LabParts, lab_ids: Ids
) -> None:
    described = await start(paths, parts, lab_ids, idle_lease_s=2.0)
    engine = await start_stand_in_engine(described, paths)
    with pytest.raises(AssertionError, match="idle lab"):
        await helpers.eventually(gone(described), "the idle lab has ended", limit_s=4)
    os.kill(engine, signal.SIGKILL)
    await helpers.eventually(gone(described), "the idle lab has ended")
    assert "idle for 2 s" in paths.daemon_log.read_text()


async def test_a_valkey_that_cannot_run_is_one_sentence(
    paths: LabPaths, parts: lab.LabParts, lab_ids: Ids
) -> None:
    os.chmod(parts.valkey_server, 0o644)
    with pytest.raises(LabError, match=r"Valkey server .* cannot be run: Permission denied"):
        await start(paths, parts, lab_ids)
    assert not paths.info.exists()


async def test_a_valkey_that_ends_at_once_is_one_sentence(
    paths: LabPaths, parts: lab.LabParts, lab_ids: Ids
) -> None:
    helpers.write_script(parts.valkey_server, "#!/bin/sh\necho no memory >&2\nexit 1\n")
    with pytest.raises(LabError, match="Valkey server did not start") as caught:
        await start(paths, parts, lab_ids)
    assert caught.value.hint == f"Its log is {paths.valkey_log}."
    assert "no memory" in paths.valkey_log.read_text()
    assert info.read(paths.info) is None


async def test_no_engine_environment_is_one_sentence(paths: LabPaths) -> None:
    with pytest.raises(LabError, match="There is no engine environment in"):
        await lab.up(paths, silent)
