"""Commands, agent, uploads and ports over one link, served by this process and by sshd."""

from __future__ import annotations

import asyncio
import contextlib
import select
import socket
import stat
import sys
from pathlib import Path

import pytest

from remote.errors import AgentError, CommandFailed, CommandTimeout, NodeUnreachable, NoPython
from remote.hosts import HostSpec
from remote.link import Link, home, program_argv
from remote.node_package import node_package
from remote.process import Process, statuses, stop_run, tail
from tests.remote.ssh_server import InProcess, Node
from tests.remote.waiting import reached

pytestmark = pytest.mark.timeout(60)


async def test_a_command_with_input_output_and_status(link: Link, node_home: Path) -> None:
    done = await link.run("cat; pwd; echo bad >&2; exit 3", stdin=b"in\n")
    assert (done.exit_status, done.stdout, done.stderr) == (3, f"in\n{node_home}\n".encode(), b"bad\n")


async def test_bytes_that_are_no_utf8(link: Link) -> None:
    done = await link.run(r"printf '\377\376\000\303'")
    assert done.stdout == b"\xff\xfe\x00\xc3"
    # The connection has survived it.
    assert (await link.run("echo ok")).stdout == b"ok\n"


async def test_output_of_megabytes(link: Link) -> None:
    done = await link.run("head -c 3000000 /dev/zero")
    assert done.stdout == bytes(3_000_000)


async def test_twenty_commands_at_once(link: Link, node: Node) -> None:
    done = await asyncio.gather(*(link.run(f"sleep 0.1; echo {n}") for n in range(20)))
    assert [int(d.stdout) for d in done] == list(range(20))
    if isinstance(node, InProcess):
        assert 1 < node.sessions_most <= 8
        assert len(node.connections) == 1


async def test_a_command_that_does_not_end(link: Link) -> None:
    with pytest.raises(CommandTimeout, match=r"gpu-a \(127.0.0.1:\d+\) did not end within 0.3 s: sleep 60"):
        await link.run("sleep 60", timeout_s=0.3)
    assert (await link.run("echo ok")).stdout == b"ok\n"


async def test_the_agent_is_uploaded_once(link: Link, node_home: Path) -> None:
    answers = await asyncio.gather(*(link.agent("status", dirs=[f"d{n}"]) for n in range(5)))
    assert [a["processes"][0]["dir"] for a in answers] == [f"{node_home}/d{n}" for n in range(5)]
    [uploaded] = (node_home / ".kvtui" / "agent").iterdir()
    assert uploaded.name == node_package().file_name
    assert uploaded.read_bytes() == node_package().data
    assert await home(link) == str(node_home)


async def test_an_agent_that_says_no(link: Link) -> None:
    with pytest.raises(AgentError, match=r"^gpu-a: /no/such could not be started") as caught:
        await Process(link, "d").start(["/no/such"], env={}, marker="m", lease_s=9)
    assert caught.value.code == "spawn-failed"
    await link.agent("lock", run="one", owner="ann", lease_s=60)
    with pytest.raises(AgentError) as locked:
        await link.agent("lock", run="two", owner="bob", lease_s=60)
    assert locked.value.code == "locked"
    assert (locked.value.details["run"], locked.value.details["owner"]) == ("one", "ann")


async def test_a_detached_process_outlives_the_link(link: Link, node: Node) -> None:
    process = Process(link, "run/one")
    argv = ["/bin/sh", "-c", "echo hi; exec sleep 60"]
    first = await process.start(argv, env={"A": "1"}, marker="m", lease_s=60)
    assert not first.already
    await link.close()
    other = Link(node.spec)
    try:
        again = Process(other, "run/one")
        assert (await again.start(argv, env={"A": "1"}, marker="m", lease_s=60)).pid == first.pid
        assert [e.values for e in await again.environ(["A"])] == [{"A": "1"}]
        await again.renew()
        assert [s.state for s in await statuses(other, ["run/one", "run/two"])] == ["running", "absent"]
        assert await again.stop(grace_s=5) is False
        status = await again.status()
        assert (status.state, status.exit_code, status.reason) == ("ended", -15, "stopped")
        chunk = await again.tail(0, max_bytes=2)
        assert (chunk.data, chunk.next_offset, chunk.size_bytes) == (b"hi", 2, 3)
        assert (await tail(other, "no/such/file", 0)).data == b""
        assert await stop_run(other, "m") == 0
    finally:
        await stop_run(other, "m", grace_s=0)
        await other.close()


async def test_an_upload_is_whole_and_private(link: Link, node_home: Path) -> None:
    data = bytes(range(256)) * 5000
    await link.upload(data, "a dir/it's a 'file'.bin")
    path = node_home / "a dir" / "it's a 'file'.bin"
    assert path.read_bytes() == data
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    await link.upload(b"", str(path), mode=0o755)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"", 0o755)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


async def test_an_upload_that_cannot_be_written(link: Link) -> None:
    with pytest.raises(CommandFailed, match=r"gpu-a: the file /proc/x/y could not be written: .*/proc/x"):
        await link.upload(b"x", "/proc/x/y")


async def test_a_forwarded_port(link: Link) -> None:
    async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        data = await reader.read()
        writer.write(data.upper())
        writer.close()

    far = await asyncio.start_server(shout, "127.0.0.1", 0)
    async with far, link.forward("127.0.0.1", far.sockets[0].getsockname()[1]) as port:
        answers = await asyncio.gather(*(_talk(port, b"hello %d" % n) for n in range(3)))
        assert answers == [b"HELLO %d" % n for n in range(3)]
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)


async def test_a_forwarded_port_that_nobody_serves(link: Link) -> None:
    free = (await link.agent("free-ports", runs=[1]))["bases"][0]
    async with link.forward("127.0.0.1", free) as port:
        assert await _talk(port, b"hello") == b""


@pytest.mark.parametrize("turns", range(8))
async def test_a_client_of_a_forwarded_port_sees_its_end_however_late_it_came(link: Link, turns: int) -> None:
    await link.connected()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        far_port = silent.getsockname()[1]
        async with asyncio.timeout(10), link.forward("127.0.0.1", far_port) as port:
            client = socket.create_connection(("127.0.0.1", port))
            for _ in range(turns):
                await asyncio.sleep(0)
        client.setblocking(False)
        async with asyncio.timeout(10):
            with contextlib.closing(client), contextlib.suppress(ConnectionResetError):
                assert await asyncio.get_running_loop().sock_recv(client, 1) == b""


@pytest.mark.parametrize("turns", range(5))
async def test_a_forwarded_port_that_is_cut_off_while_it_closes_lets_its_clients_go(
    link: Link, turns: int
) -> None:
    async def hold(port_known: asyncio.Future[int]) -> None:
        async with link.forward("127.0.0.1", far.getsockname()[1]) as port:
            port_known.set_result(port)
            await asyncio.Event().wait()

    with socket.create_server(("127.0.0.1", 0)) as far:
        known: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        holding = asyncio.create_task(hold(known))
        reader, writer = await asyncio.open_connection("127.0.0.1", await known)
        await reached(lambda: select.select([far], [], [], 0)[0] != [])
        holding.cancel()
        for _ in range(turns):
            await asyncio.sleep(0)
        holding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await holding
        with contextlib.suppress(ConnectionResetError):
            assert await asyncio.wait_for(reader.read(), 10) == b""
        writer.close()


async def _talk(port: int, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(data)
        writer.write_eof()
        return await asyncio.wait_for(reader.read(), 10)
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


async def test_the_probe_is_started_with_the_nodes_python(link: Link, node_home: Path) -> None:
    argv = await program_argv(link, "probe", "job.json")
    assert argv[-3:] == [f"{node_home}/.kvtui/agent/{node_package().file_name}", "probe", "job.json"]
    process = Process(link, "probe")
    await process.start(argv, env={}, marker="m", lease_s=60)
    await reached(lambda: (node_home / "probe" / "exit.json").exists())
    assert (await process.status()).exit_code == 2
    assert b"The job cannot be read" in (await process.tail(0)).data


def fake_python(server: InProcess, directory: Path, script: str | None) -> None:
    """Put nothing on the node's PATH, or a python3 of the test."""
    directory.mkdir()
    if script is not None:
        path = directory / "python3"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    server.env["PATH"] = str(directory)


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (None, "gpu-a has no usable python3. Install Python 3.8 or newer there"),
        (
            "echo 'version 3.11 is not installed' >&2; exit 1",
            "no usable python3: version 3.11 is not installed.",
        ),
        ('echo \'kvtui:[[3, 6], "/p", "/h", "/f", false]\'', "gpu-a has Python 3.6, which is too old."),
    ],
)
async def test_no_usable_python(server: InProcess, tmp_path: Path, script: str | None, sentence: str) -> None:
    fake_python(server, tmp_path / "bin", script)
    link = Link(server.spec)
    with pytest.raises(NoPython) as caught:
        await link.agent("facts")
    assert sentence in str(caught.value)
    await link.close()


async def test_a_greeting_of_the_login_shell_does_no_harm(server: InProcess, tmp_path: Path) -> None:
    fake_python(server, tmp_path / "bin", f"echo 'Welcome! {{}}'; exec {sys.executable} \"$@\"")
    server.env["PATH"] += ":/usr/bin:/bin"
    link = Link(server.spec)
    assert (await link.agent("status", dirs=[]))["processes"] == []
    await link.close()


async def test_a_package_that_was_removed_is_uploaded_anew(server: InProcess, node_home: Path) -> None:
    link = Link(server.spec)
    await link.agent("status", dirs=[])
    next((node_home / ".kvtui" / "agent").iterdir()).unlink()
    with pytest.raises(CommandFailed, match="gpu-a: the agent's command status ended with status"):
        await link.agent("status", dirs=[])
    assert (await link.agent("status", dirs=[]))["processes"] == []
    await link.close()


async def test_a_closed_link_stays_closed(server: InProcess) -> None:
    link = Link(server.spec)
    await link.run("true")
    await link.close()
    await link.close()
    with pytest.raises(NodeUnreachable, match="is closed"):
        await link.run("true")


async def test_the_configuration_of_openssh_is_honoured(
    server: InProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text(
        f"Host my-gpu\n  HostName 127.0.0.1\n  Port {server.port}\n  User tester\n"
        f"  IdentityFile {server.keys.client}\n  UserKnownHostsFile {server.keys.known_hosts}\n"
    )
    link = Link(HostSpec.from_alias("my-gpu"))
    assert (await link.run("echo ok")).stdout == b"ok\n"
    assert link.name == "my-gpu"
    await link.close()
