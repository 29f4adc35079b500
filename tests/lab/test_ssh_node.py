"""A node of the lab behaves as a machine with sshd does."""

from __future__ import annotations

import asyncio
import os
import signal

import asyncssh
import pytest

from remote.hosts import HostSpec
from remote.lab.paths import LabPaths
from tests.lab import helpers

Connection = asyncssh.SSHClientConnection


async def test_output_and_exit_status_arrive(connection: Connection) -> None:
    done = await connection.run("echo out; echo err >&2; exit 7")
    assert (done.stdout, done.stderr, done.exit_status) == ("out\n", "err\n", 7)


async def test_binary_data_passes_both_ways_unchanged(connection: Connection) -> None:
    data = bytes(range(256)) * 8192
    done = await connection.run("cat; head -c 3 /dev/zero >&2", input=data, encoding=None)
    assert done.stdout == data
    assert done.stderr == b"\0\0\0"


async def test_no_output_is_lost_when_the_command_ends(connection: Connection) -> None:
    for _ in range(10):
        done = await connection.run("head -c 1000000 /dev/zero", encoding=None)
        assert done.stdout is not None
        assert len(done.stdout) == 1_000_000


async def test_a_command_killed_by_a_signal_says_so(connection: Connection) -> None:
    done = await connection.run("kill -TERM $$")
    assert done.exit_signal is not None
    assert done.exit_signal[0] == "TERM"


async def test_a_shell_reads_commands_from_its_input(connection: Connection) -> None:
    done = await connection.run(input="echo from a shell\nexit 3\n")
    assert (done.stdout, done.exit_status) == ("from a shell\n", 3)


async def test_each_node_has_a_home_and_a_python_of_its_own(connection: Connection, paths: LabPaths) -> None:
    done = await connection.run('echo "$HOME"; pwd; python3 -c "import sys; print(sys.version_info[0])"')
    home = str(paths.home("gpu-a"))
    assert done.stdout == f"{home}\n{home}\n3\n"


async def test_the_callers_environment_stays_out(
    monkeypatch: pytest.MonkeyPatch, connection: Connection
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    done = await connection.run('echo "${PYTHONPATH-unset} ${KVTUI_LAB%-*}"')
    assert done.stdout == "unset test\n"


async def test_a_wrong_key_is_refused(node: HostSpec) -> None:
    with pytest.raises(asyncssh.PermissionDenied):
        await asyncssh.connect(
            node.address,
            node.port or 0,
            username="x",
            client_keys=[asyncssh.generate_private_key("ssh-ed25519")],
            known_hosts=node.known_hosts,
            config=None,
            agent_path=None,
        )


async def test_the_private_key_is_for_its_owner_only(node: HostSpec) -> None:
    assert node.client_keys is not None
    assert os.stat(node.client_keys[0]).st_mode & 0o077 == 0


async def test_a_node_has_no_sftp(connection: Connection) -> None:
    with pytest.raises(asyncssh.ChannelOpenError):
        await connection.create_process(subsystem="sftp")


async def test_another_subsystem_is_refused_in_words(connection: Connection) -> None:
    process = await connection.create_process(subsystem="netconf")
    done = await process.wait()
    assert done.exit_status == 1
    assert done.stderr == "node gpu-a of the lab has no subsystem netconf\n"


async def test_a_port_of_the_node_can_be_reached(connection: Connection) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.readline()).upper())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        listener = await connection.forward_local_port("127.0.0.1", 0, "127.0.0.1", port)
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.get_port())
        writer.write(b"hello\n")
        assert await reader.readline() == b"HELLO\n"
        writer.close()
        await writer.wait_closed()
        listener.close()
        await listener.wait_closed()


async def test_only_the_node_itself_can_be_reached(connection: Connection) -> None:
    with pytest.raises(asyncssh.ChannelOpenError):
        await connection.open_connection("192.0.2.1", 80)


async def test_a_closed_channel_kills_what_is_in_its_session(connection: Connection, paths: LabPaths) -> None:
    home = paths.home("gpu-a")
    # `set -m` puts the second one into a process group of its own: still the same session.
    process = await connection.create_process(
        "sleep 300 & echo $! > one; set -m; sleep 300 & echo $! > two; wait"
    )
    pids = [await helpers.wait_for_pid(home / name) for name in ("one", "two")]
    process.channel.abort()
    await helpers.eventually(lambda: not any(helpers.lives(pid) for pid in pids), "both have ended")


async def test_a_lost_connection_kills_as_a_closed_channel_does(node: HostSpec, paths: LabPaths) -> None:
    async with helpers.connect(node) as connection:
        await connection.create_process("echo $$ > one; sleep 300")
        pid = await helpers.wait_for_pid(paths.home("gpu-a") / "one")
        connection.abort()
    await helpers.eventually(lambda: not helpers.lives(pid), "the command has ended")


async def test_a_session_of_its_own_outlives_the_channel(connection: Connection, paths: LabPaths) -> None:
    process = await connection.create_process(
        "setsid sh -c 'echo $$ > detached; exec sleep 300' & echo $$ > attached; sleep 300"
    )
    detached = await helpers.wait_for_pid(paths.home("gpu-a") / "detached")
    attached = await helpers.wait_for_pid(paths.home("gpu-a") / "attached")
    process.channel.abort()
    await helpers.eventually(lambda: not helpers.lives(attached), "the shell has ended")
    assert helpers.lives(detached)
    os.kill(detached, signal.SIGKILL)


async def test_a_detached_process_does_not_hold_up_its_command(
    connection: Connection, paths: LabPaths
) -> None:
    async with asyncio.timeout(10):
        done = await connection.run(f"{helpers.detached('sleep 300', 'one')}; echo started")
    assert done.stdout == "started\n"
    pid = await helpers.wait_for_pid(paths.home("gpu-a") / "one")
    assert helpers.lives(pid)
    os.kill(pid, signal.SIGKILL)


async def test_a_client_that_reads_nothing_holds_up_nobody_else(node: HostSpec) -> None:
    async with helpers.connect(node) as slow, helpers.connect(node) as quick:
        process = await slow.create_process("cat /dev/zero", encoding=None)
        process.stdout.channel.pause_reading()
        async with asyncio.timeout(10):
            for _ in range(5):
                done = await quick.run("echo quick")
                assert done.stdout == "quick\n"
        slow.abort()


async def test_a_signal_reaches_the_command(connection: Connection) -> None:
    process = await connection.create_process(
        "trap 'echo got it; exit 5' USR1; echo ready; sleep 300 >/dev/null 2>&1 & wait"
    )
    assert await process.stdout.readline() == "ready\n"
    process.send_signal("USR1")
    done = await process.wait()
    assert (done.stdout, done.exit_status) == ("got it\n", 5)


async def test_many_sessions_leave_no_open_file(node: HostSpec) -> None:
    async with helpers.connect(node) as connection:
        await connection.run("true")
        before = helpers.open_files()
        for _ in range(5):
            await asyncio.gather(*(connection.run("echo $$") for _ in range(4)))
        await helpers.eventually(lambda: helpers.open_files() <= before, "as many open files as before")
