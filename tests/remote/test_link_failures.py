"""A connection that is refused, distrusted, lost or frozen: each is one sentence, and nothing hangs."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import re
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import asyncssh
import pytest

from remote import connection, route
from remote.errors import AuthFailed, HostKeyRefused, NodeUnreachable, RemoteError
from remote.hosts import HostSpec
from remote.link import Link
from tests.remote.ssh_server import InProcess, Keys, Node
from tests.remote.waiting import is_held, nameless_files, reached

pytestmark = pytest.mark.timeout(60)


async def failure(spec: HostSpec) -> RemoteError:
    link = Link(spec)
    try:
        with pytest.raises(RemoteError) as caught:
            await link.run("true")
    finally:
        await link.close()
    assert "\n" not in str(caught.value)
    assert caught.value.hint
    return caught.value


async def test_a_key_that_the_node_does_not_know(node: Node, tmp_path: Path) -> None:
    other = Keys.generate(tmp_path / "other")
    error = await failure(dataclasses.replace(node.spec, client_keys=(str(other.client),)))
    assert isinstance(error, AuthFailed)
    assert error.message == f"gpu-a (127.0.0.1:{node.port}) refuses every key for user {node.username}."


async def test_a_host_key_that_was_never_seen(node: Node) -> None:
    node.keys.known_hosts.write_text("")
    error = await failure(node.spec)
    assert isinstance(error, HostKeyRefused)
    shown = asyncssh.read_public_key(f"{node.keys.host}.pub").get_fingerprint()
    assert error.message == (
        f"The host key of gpu-a (127.0.0.1:{node.port}) is not known; it shows ssh-ed25519 {shown}."
    )


async def test_a_host_key_that_has_changed(node: Node, tmp_path: Path) -> None:
    old = Keys.generate(tmp_path / "old")
    old.trust(node.port)
    error = await failure(dataclasses.replace(node.spec, known_hosts=str(old.known_hosts)))
    assert isinstance(error, HostKeyRefused)
    for keys in (node.keys, old):
        assert asyncssh.read_public_key(f"{keys.host}.pub").get_fingerprint() in error.message
    [known] = error.known
    assert (known.file, known.line) == (str(old.known_hosts), 1)
    assert error.offered != known.fingerprint
    assert f"{old.known_hosts}:1 has {known.fingerprint}" in error.message
    assert "has changed" in error.message
    assert f"ssh-keygen -f {old.known_hosts} -R '[127.0.0.1]:{node.port}'" in error.hint


async def test_a_host_key_of_another_kind(server: InProcess) -> None:
    other = asyncssh.generate_private_key("ecdsa-sha2-nistp256")
    public = other.export_public_key().decode()
    server.keys.known_hosts.write_text(f"[127.0.0.1]:{server.port} {public}")
    error = await failure(server.spec)
    assert isinstance(error, HostKeyRefused)
    shown = asyncssh.read_public_key(f"{server.keys.host}.pub").get_fingerprint()
    assert error.offered == f"ssh-ed25519 {shown}"
    assert [key.fingerprint for key in error.known] == [f"ecdsa-sha2-nistp256 {other.get_fingerprint()}"]
    assert "has changed" in error.message


async def test_a_configuration_cannot_switch_the_check_off(
    server: InProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    config = tmp_path / "config"
    config.write_text("Host *\n  StrictHostKeyChecking no\n  UserKnownHostsFile none\n")
    spec = dataclasses.replace(server.spec, known_hosts=None, config=(str(config),))
    assert isinstance(await failure(spec), HostKeyRefused)


async def test_a_configuration_that_cannot_be_read(server: InProcess, tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("Port many\n")
    error = await failure(dataclasses.replace(server.spec, port=None, config=(str(config),)))
    assert "The SSH configuration for gpu-a (127.0.0.1) cannot be read: " in error.message


async def test_a_key_file_that_is_missing_or_locked(server: InProcess, tmp_path: Path) -> None:
    missing = str(tmp_path / "no_key")
    error = await failure(dataclasses.replace(server.spec, client_keys=(missing,)))
    assert missing in error.message
    locked = tmp_path / "locked"
    key = asyncssh.generate_private_key("ssh-ed25519")
    locked.write_bytes(key.export_private_key("pkcs8-pem", passphrase="secret"))
    error = await failure(dataclasses.replace(server.spec, client_keys=(str(locked),)))
    assert isinstance(error, AuthFailed)
    assert "ssh-add" in error.hint


async def test_a_port_that_refuses(server: InProcess) -> None:
    await server.stop()
    error = await failure(server.spec)
    assert error.message == f"gpu-a (127.0.0.1:{server.port}) refuses SSH connections."


async def test_a_server_that_speaks_no_ssh(server: InProcess) -> None:
    async def shout(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        writer.close()

    other = await asyncio.start_server(shout, "127.0.0.1", 0)
    async with other:
        error = await failure(dataclasses.replace(server.spec, port=other.sockets[0].getsockname()[1]))
    assert isinstance(error, NodeUnreachable)


async def test_a_server_that_says_nothing(server: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route, "CONNECT_TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        error = await failure(dataclasses.replace(server.spec, port=silent.getsockname()[1]))
    assert "did not answer" in error.message


async def test_a_command_whose_connection_is_cut(server: InProcess) -> None:
    link = Link(server.spec)
    running = asyncio.ensure_future(link.run("sleep 60"))
    await reached(lambda: server.shells_now == 1)
    await server.stop()
    with pytest.raises(NodeUnreachable):
        await running
    await server.start()
    # The next command finds the node again.
    assert (await link.run("echo back")).stdout == b"back\n"
    await link.close()


async def test_a_question_to_the_agent_survives_a_cut(server: InProcess) -> None:
    asked = 0

    async def web(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        if asked > 1:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.0 200 OK\r\n\r\nhere")
        else:
            await reader.read()
        writer.close()

    far = await asyncio.start_server(web, "127.0.0.1", 0)
    said: list[str] = []
    link = Link(server.spec, tell=said.append)
    async with far:
        port = far.sockets[0].getsockname()[1]
        question = asyncio.ensure_future(
            link.agent("http", port=port, method="GET", path="/", body=None, timeout_s=30)
        )
        await reached(lambda: asked == 1)
        assert said == []
        await server.stop()
        # It is told at once, long before anybody gives up.
        await reached(lambda: len(said) == 1)
        assert not question.done()
        await server.start()
        assert (await question)["text"] == "here"
    assert asked == 2
    lost, back = said
    assert re.search(r"^The connection to .+ is lost, trying again for (2\d|30) s\.$", lost)
    assert re.search(r"^The connection to .+ is back\.$", back)
    await link.close()


async def test_a_node_that_was_never_reached_is_not_called_lost(server: InProcess) -> None:
    said: list[str] = []
    await server.stop()
    link = Link(server.spec, tell=said.append)
    with pytest.raises(NodeUnreachable):
        await link.agent("facts", paths=[])
    assert said == []
    await link.close()


async def test_a_forwarded_port_survives_a_cut(server: InProcess) -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        writer.close()

    async def read(port: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with contextlib.closing(writer):
            return await reader.read()

    far = await asyncio.start_server(greet, "127.0.0.1", 0)
    link = Link(server.spec)
    async with far, link.forward("127.0.0.1", far.sockets[0].getsockname()[1]) as port:
        assert await read(port) == b"hello"
        await server.stop()
        await server.start()
        assert await read(port) == b"hello"
    await link.close()


@pytest.fixture
async def freezing(server: InProcess) -> AsyncIterator[tuple[HostSpec, asyncio.Event]]:
    """The node behind a relay that passes nothing on once the event is set, as a network that is gone."""
    frozen = asyncio.Event()
    tasks: set[asyncio.Task[None]] = set()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if not frozen.is_set():
                writer.write(data)

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", server.port)
        writers.extend((writer, far_writer))
        for pair in ((reader, far_writer), (far_reader, writer)):
            tasks.add(asyncio.ensure_future(pump(*pair)))

    writers: list[asyncio.StreamWriter] = []
    front = await asyncio.start_server(relay, "127.0.0.1", 0)
    port = front.sockets[0].getsockname()[1]
    server.keys.trust(port)
    yield dataclasses.replace(server.spec, port=port), frozen
    front.close()
    for writer in writers:
        writer.close()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_close_does_not_wait_for_a_peer_that_is_frozen(
    freezing: tuple[HostSpec, asyncio.Event], server: InProcess
) -> None:
    spec, frozen = freezing
    link = Link(spec)
    running = asyncio.ensure_future(link.run("sleep 60"))
    await reached(lambda: server.shells_now == 1)
    frozen.set()
    async with asyncio.timeout(connection.CLOSE_TIMEOUT_S + 5):
        await link.close()
        with pytest.raises(NodeUnreachable):
            await running


async def test_a_frozen_peer_is_noticed(
    freezing: tuple[HostSpec, asyncio.Event], server: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(route, "KEEPALIVE_S", 0.1)
    spec, frozen = freezing
    link = Link(spec)
    running = asyncio.ensure_future(link.run("sleep 60"))
    await reached(lambda: server.shells_now == 1)
    frozen.set()
    with pytest.raises(NodeUnreachable, match=r"gpu-a .* (was lost|did not answer)"):
        await running
    await link.close()


async def test_a_node_that_allows_one_session_at_a_time(
    server: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.sessions_allowed = 1
    link = Link(server.spec)
    done = await asyncio.gather(*(link.run(f"sleep 0.05; echo {n}") for n in range(3)))
    assert [int(d.stdout) for d in done] == [0, 1, 2]
    assert server.sessions_most == 1
    server.sessions_allowed = 0
    monkeypatch.setattr("remote.link.LONGEST_PAUSE_S", 0.2)
    with pytest.raises(NodeUnreachable, match="opens no further channel: no more sessions"):
        await link.run("true")
    await link.close()


async def test_a_measurement_ends_with_its_link(link: Link, node_home: Path) -> None:
    measuring = asyncio.create_task(
        link.agent(
            "ceiling-disk",
            timeout_s=60,
            dir="tier",
            chunk_bytes=65536,
            threads=[2],
            limit_bytes=16 * 65536,
            repeats=1_000_000,
            slice_s=1,
        )
    )
    lock = node_home / ".kvtui" / "ceiling.lock"
    # A kill before the files have lost their names leaves their folder.
    await reached(lambda: nameless_files(node_home) != [] and os.listdir(node_home) == [".kvtui"])
    assert is_held(lock)
    await link.close()
    measuring.cancel()
    with pytest.raises((asyncio.CancelledError, NodeUnreachable)):
        await measuring
    await reached(lambda: not is_held(lock))
    assert os.listdir(node_home) == [".kvtui"]
