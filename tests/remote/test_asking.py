"""New host keys and locked private keys: asked about once, refused without a person."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import dataclasses
import hmac
import shutil
import socket
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import asyncssh
import pytest

from remote.errors import AuthFailed, HostKeyRefused
from remote.hosts import HostSpec
from remote.link import Link
from tests.remote import ssh_server
from tests.remote.asker import Person
from tests.remote.ssh_server import InProcess, Keys, Node
from tests.remote.waiting import reached

pytestmark = pytest.mark.timeout(60)


def loopbacks() -> list[str]:
    """The loopback addresses of this machine."""
    found = ["127.0.0.1"]
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        found.append("::1")
    return found


async def said(spec: HostSpec, person: Person | None) -> bytes:
    link = Link(spec, person)
    try:
        return (await link.run("echo hello")).stdout
    finally:
        await link.close()


def shown(keys: Keys) -> str:
    return f"ssh-ed25519 {asyncssh.read_public_key(f'{keys.host}.pub').get_fingerprint()}"


def lock(file: Path, key: asyncssh.SSHKey, passphrase: str, form: str = "openssh") -> None:
    """Write a private key with a passphrase, quickly."""
    data = key.export_private_key(form, passphrase=passphrase, rounds=1, ignore_few_rounds=True)
    file.write_bytes(data)


async def test_a_new_host_key_is_shown_and_kept(node: Node) -> None:
    written = node.keys.known_hosts.read_text()
    node.keys.known_hosts.unlink()
    person = Person(trusts=True)
    assert await said(node.spec, person) == b"hello\n"
    assert person.host_keys == [(f"gpu-a (127.0.0.1:{node.port})", shown(node.keys))]
    assert node.keys.known_hosts.read_text().split() == written.split()[:3]
    assert stat.S_IMODE(node.keys.known_hosts.stat().st_mode) == 0o600
    # From now on nobody is asked.
    assert await said(node.spec, None) == b"hello\n"


async def test_a_new_host_key_that_is_not_trusted(server: InProcess) -> None:
    server.keys.known_hosts.write_text("")
    person = Person(trusts=False)
    with pytest.raises(HostKeyRefused) as caught:
        await said(server.spec, person)
    assert (caught.value.offered, caught.value.known) == (shown(server.keys), ())
    assert server.keys.known_hosts.read_text() == ""
    # The next time it is asked again.
    with pytest.raises(HostKeyRefused):
        await said(server.spec, person)
    assert len(person.host_keys) == 2


@pytest.mark.parametrize(
    ("word", "asked"), [("yes", 0), ("YES", 0), ("ask", 1), ("accept-new", 1), ("no", 1), ("off", 1)]
)
async def test_strict_checking_of_host_keys(server: InProcess, tmp_path: Path, word: str, asked: int) -> None:
    server.keys.known_hosts.write_text("")
    config = tmp_path / "config"
    config.write_text(
        f"Host other\n  StrictHostKeyChecking yes\nHost 127.*\n  StrictHostKeyChecking={word}\n"
    )
    person = Person(trusts=False)
    with pytest.raises(HostKeyRefused) as caught:
        await said(dataclasses.replace(server.spec, config=(str(config),)), person)
    assert len(person.host_keys) == asked
    assert ("(StrictHostKeyChecking yes)" in caught.value.message) == (asked == 0)
    assert caught.value.offered == shown(server.keys)
    assert server.keys.known_hosts.read_text() == ""


async def test_what_the_file_holds_stays(server: InProcess) -> None:
    other = "elsewhere ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIK55fPtJL4ywxbqVMa48qyfe8ATzBdPpKZj3cqMs5MO8"
    server.keys.known_hosts.write_text(f"nonsense\n{other}")
    assert await said(server.spec, Person(trusts=True)) == b"hello\n"
    lines = server.keys.known_hosts.read_text().splitlines()
    assert lines[:2] == ["nonsense", other]
    assert lines[2].startswith(f"[127.0.0.1]:{server.port} ssh-ed25519 ")


async def test_a_key_that_has_changed_is_not_asked_about(server: InProcess, tmp_path: Path) -> None:
    old = Keys.generate(tmp_path / "old")
    old.trust(server.port)
    person = Person(trusts=True)
    with pytest.raises(HostKeyRefused) as caught:
        await said(dataclasses.replace(server.spec, known_hosts=str(old.known_hosts)), person)
    assert [key.fingerprint for key in caught.value.known] == [shown(old)]
    assert person.host_keys == []


async def test_a_key_that_is_revoked_is_not_asked_about(server: InProcess) -> None:
    entry = server.keys.known_hosts.read_text()
    person = Person(trusts=True)
    for name in (entry.split()[0], "*"):
        server.keys.known_hosts.write_text(f"@revoked {name} {entry.split(maxsplit=1)[1]}")
        with pytest.raises(HostKeyRefused, match="revoked"):
            await said(server.spec, person)
    assert person.host_keys == []


@pytest.mark.parametrize("key_type", ["ssh-ed25519", "ecdsa-sha2-nistp256"])
async def test_the_same_machine_on_another_port_is_another_host(server: InProcess, key_type: str) -> None:
    other = asyncssh.generate_private_key(key_type).export_public_key().decode()
    server.keys.known_hosts.write_text(f"127.0.0.1 {other}")
    person = Person(trusts=True)
    assert await said(server.spec, person) == b"hello\n"
    assert len(person.host_keys) == 1


async def test_a_name_of_its_own_for_the_key(server: InProcess, tmp_path: Path) -> None:
    config, known = tmp_path / "config", server.keys.known_hosts
    config.write_text("Host *\n  HostKeyAlias cluster\n")
    spec = dataclasses.replace(server.spec, config=(str(config),))
    known.write_text("")
    person = Person(trusts=True)
    assert await said(spec, person) == b"hello\n"
    assert known.read_text().startswith("cluster ssh-ed25519 ")
    assert await said(spec, None) == b"hello\n"
    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
    known.write_text(f"cluster {other}")
    with pytest.raises(HostKeyRefused) as caught:
        await said(spec, person)
    assert len(caught.value.known) == len(person.host_keys) == 1


async def test_a_changed_key_under_a_hashed_name(server: InProcess) -> None:
    salt, name = bytes(20), f"[127.0.0.1]:{server.port}"
    digest = hmac.new(salt, name.encode(), "sha1").digest()
    hashed = "|1|" + "|".join(base64.b64encode(part).decode() for part in (salt, digest))
    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
    server.keys.known_hosts.write_text(f"# hashed\n{hashed} {other}")
    person = Person(trusts=True)
    with pytest.raises(HostKeyRefused) as caught:
        await said(server.spec, person)
    assert [key.line for key in caught.value.known] == [2]
    assert person.host_keys == []


async def test_a_person_may_take_longer_than_the_command(server: InProcess) -> None:
    server.keys.known_hosts.write_text("")
    limit_s, loop = 2.0, asyncio.get_running_loop()
    answer_at = loop.time() + limit_s + 0.1
    link = Link(server.spec, Person(trusts=True, thinks=lambda: loop.time() > answer_at))
    assert (await link.run("echo hello", timeout_s=limit_s)).stdout == b"hello\n"
    await link.close()


@pytest.mark.parametrize("trusts", [True, False])
async def test_many_links_ask_once(server: InProcess, trusts: bool) -> None:
    server.keys.known_hosts.write_text("")
    person = Person(trusts=trusts, others=4)
    found = await asyncio.gather(*(said(server.spec, person) for _ in range(5)), return_exceptions=True)
    assert len(person.host_keys) == 1
    assert all(answer == b"hello\n" if trusts else isinstance(answer, HostKeyRefused) for answer in found)


@pytest.mark.parametrize("address", loopbacks())
async def test_addresses_of_both_kinds(node_home: Path, keys: Keys, address: str) -> None:
    async with ssh_server.in_process(node_home, keys, address) as node:
        assert await said(node.spec, None) == b"hello\n"
        keys.known_hosts.unlink()
        person = Person(trusts=True)
        assert await said(node.spec, person) == b"hello\n"
        assert keys.known_hosts.read_text().startswith(f"[{address}]:{node.port} ")
        bracketed = f"[{address}]" if ":" in address else address
        assert person.host_keys[0][0] == f"gpu-a ({bracketed}:{node.port})"


@pytest.fixture(params=["openssh", "pkcs8-pem"])
def locked(request: pytest.FixtureRequest, keys: Keys) -> Keys:
    """The user's key, with the passphrase ``secret``."""
    key = asyncssh.read_private_key(keys.client)
    keys.client.write_bytes(
        key.export_private_key(request.param, passphrase="secret", rounds=1, ignore_few_rounds=True)
    )
    return keys


async def test_a_passphrase_is_asked_once(server: InProcess, locked: Keys) -> None:
    person = Person(passphrases=["wrong", "secret"], others=2)
    answers = await asyncio.gather(*(said(server.spec, person) for _ in range(3)))
    assert answers == [b"hello\n"] * 3
    assert person.key_files == [(str(locked.client), 1), (str(locked.client), 2)]
    # Another link of the same program has the key in memory.
    assert await said(server.spec, person) == b"hello\n"
    assert person.answers == []


@pytest.mark.parametrize("typed", [[None], ["wrong", None], ["a", "b", "c"]])
async def test_a_key_that_stays_locked(server: InProcess, locked: Keys, typed: list[str | None]) -> None:
    person = Person(passphrases=typed)
    with pytest.raises(AuthFailed) as caught:
        await said(server.spec, person)
    assert person.answers == []
    assert f"{locked.client} was left out, since it has a passphrase" in caught.value.message
    assert caught.value.hint == f"Load it first: ssh-add {locked.client}"


async def test_without_a_person_a_locked_key_is_left_out(server: InProcess, locked: Keys) -> None:
    with pytest.raises(AuthFailed, match="was left out, since it has a passphrase"):
        await said(server.spec, None)


async def test_a_key_that_is_not_needed_is_not_asked_for(
    server: InProcess, keys: Keys, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    key = asyncssh.generate_private_key("ssh-ed25519")
    other.write_bytes(
        key.export_private_key("openssh", passphrase="secret", rounds=1, ignore_few_rounds=True)
    )
    person = Person()
    spec = dataclasses.replace(server.spec, client_keys=(str(other), str(keys.client)))
    assert await said(spec, person) == b"hello\n"
    assert person.key_files == []


async def test_a_locked_key_after_more_keys_than_the_node_hears(node: Node, tmp_path: Path) -> None:
    others = tuple(str(Keys.generate(tmp_path / f"other-{number}").client) for number in range(8))
    spec = dataclasses.replace(node.spec, client_keys=others)
    with pytest.raises(AuthFailed, match=r"refuses (every key|so many keys)"):
        await said(spec, None)
    lock(node.keys.client, asyncssh.read_private_key(node.keys.client), "secret")
    spec = dataclasses.replace(node.spec, client_keys=(*others, str(node.keys.client)))
    assert await said(spec, Person(passphrases=["secret"])) == b"hello\n"


async def test_of_several_locked_keys_one_may_be_left_out(
    server: InProcess, locked: Keys, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    lock(other, asyncssh.generate_private_key("ssh-ed25519"), "else")
    spec = dataclasses.replace(server.spec, client_keys=(str(other), str(locked.client)))
    assert await said(spec, Person(passphrases=[None, "secret"])) == b"hello\n"
    assert await said(spec, Person(passphrases=["else", "secret"])) == b"hello\n"


@contextlib.asynccontextmanager
async def agent_with(key: asyncssh.SSHKey, socket_path: Path) -> AsyncIterator[None]:
    agent = await asyncio.create_subprocess_exec(
        "ssh-agent", "-D", "-a", str(socket_path), stdout=asyncio.subprocess.DEVNULL
    )
    try:
        await reached(socket_path.exists)
        async with asyncssh.connect_agent(str(socket_path)) as client:
            await client.add_keys([key])
        yield
    finally:
        agent.terminate()
        await agent.wait()


@pytest.mark.parametrize("only", ["yes", "no"])
async def test_a_key_of_the_agent_needs_no_passphrase(
    server: InProcess, keys: Keys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, only: str
) -> None:
    if shutil.which("ssh-agent") is None:
        pytest.skip("ssh-agent is not installed (Debian package openssh-client)")
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    key = asyncssh.read_private_key(keys.client)
    keys.client.write_bytes(
        key.export_private_key("openssh", passphrase="secret", rounds=1, ignore_few_rounds=True)
    )
    config = tmp_path / "config"
    config.write_text(
        f"Host *\n  IdentityFile {keys.client}\n  IdentityFile {tmp_path}/missing\n  IdentitiesOnly {only}\n"
    )
    spec = dataclasses.replace(server.spec, client_keys=None, config=(str(config),))
    person = Person()
    async with agent_with(key, tmp_path / "agent"):
        assert await said(spec, person) == b"hello\n"
    assert person.key_files == []
