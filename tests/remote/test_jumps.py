"""Two hops through jump hosts, by a configuration of OpenSSH."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from remote.errors import AuthFailed, HostKeyRefused, NodeUnreachable
from remote.hosts import HostSpec
from remote.link import Link
from remote.route import jump_host
from tests.remote import ssh_server
from tests.remote.asker import Person
from tests.remote.ssh_server import InProcess, Keys

pytestmark = pytest.mark.timeout(60)
HOSTS = ("bastion", "inner", "gpu")


class Chain:
    """Three servers, each with keys of its own, and the configuration that leads through them."""

    def __init__(self, directory: Path, nodes: dict[str, InProcess]) -> None:
        self.nodes = nodes
        self.known_hosts = directory / "known_hosts"
        self.known_hosts.write_text("".join(node.keys.known_hosts.read_text() for node in nodes.values()))
        self.config = directory / "config"

    def spec(self, **jumps: str) -> HostSpec:
        """The last server, reached by the alias ``gpu``; each host may have a ProxyJump."""
        text = ""
        for name, node in self.nodes.items():
            text += (
                f"Host {name}\n  HostName 127.0.0.1\n  Port {node.port}\n  User tester\n"
                f"  IdentityFile {node.keys.client}\n"
            )
            text += f"  ProxyJump {jumps[name]}\n" if name in jumps else ""
        self.config.write_text(f"{text}Host *\n  UserKnownHostsFile {self.known_hosts}\n")
        return dataclasses.replace(HostSpec.from_alias("gpu"), config=(str(self.config),))

    def forget(self, name: str) -> None:
        """Remove a server's key from the known hosts."""
        kept = [node.keys.known_hosts.read_text() for host, node in self.nodes.items() if host != name]
        self.known_hosts.write_text("".join(kept))


@pytest.fixture
async def chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Chain]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    async with AsyncExitStack() as stack:
        nodes = {}
        for name in HOSTS:
            home = tmp_path / f"home-{name}"
            home.mkdir()
            keys = Keys.generate(tmp_path / name)
            nodes[name] = await stack.enter_async_context(ssh_server.in_process(home, keys))
        yield Chain(tmp_path, nodes)


async def where(spec: HostSpec, person: Person | None = None) -> str:
    link = Link(spec, person)
    try:
        return Path((await link.run("pwd")).stdout.decode().strip()).name
    finally:
        await link.close()


@pytest.mark.parametrize("jumps", [{"gpu": "bastion,inner"}, {"gpu": "inner", "inner": "bastion"}])
async def test_two_hops(chain: Chain, jumps: dict[str, str]) -> None:
    assert await where(chain.spec(**jumps)) == "home-gpu"
    assert [len(node.connections) for node in chain.nodes.values()] == [1, 1, 1]


async def test_a_closed_link_closes_every_hop(chain: Chain) -> None:
    link = Link(chain.spec(gpu="bastion,inner"))
    await link.run("true")
    open_before = [node.connections[0].is_closed() for node in chain.nodes.values()]
    await link.close()
    for node in chain.nodes.values():
        await node.connections[0].wait_closed()
    assert open_before == [False, False, False]


@pytest.mark.parametrize("name", HOSTS)
async def test_the_host_key_of_every_hop_is_checked(chain: Chain, name: str) -> None:
    chain.forget(name)
    spec = chain.spec(gpu="bastion,inner")
    with chain.config.open("a") as config:
        config.write("  StrictHostKeyChecking no\n")
    with pytest.raises(HostKeyRefused) as caught:
        await where(spec)
    assert ("gpu is not known" if name == "gpu" else f"jump host {name} of gpu") in caught.value.message
    person = Person(trusts=True)
    assert await where(spec, person) == "home-gpu"
    assert len(person.host_keys) == 1
    assert await where(spec) == "home-gpu"


async def test_a_hop_that_refuses_the_key_is_named(chain: Chain) -> None:
    inner = chain.nodes["inner"].keys
    inner.authorized.write_text(chain.nodes["gpu"].keys.authorized.read_text())
    with pytest.raises(AuthFailed, match="jump host inner of gpu"):
        await where(chain.spec(gpu="bastion,inner"))


async def test_a_node_that_its_jump_host_cannot_reach(chain: Chain) -> None:
    await chain.nodes["gpu"].stop()
    with pytest.raises(NodeUnreachable, match="gpu cannot be reached from its jump host: "):
        await where(chain.spec(gpu="bastion,inner"))


async def test_a_circle_is_told_of(chain: Chain) -> None:
    with pytest.raises(NodeUnreachable, match=r"ProxyJump of jump host bastion .* leads back to gpu"):
        await where(chain.spec(gpu="bastion", bastion="gpu"))


async def test_a_jump_host_for_every_host_needs_none_itself(chain: Chain) -> None:
    spec = chain.spec()
    with chain.config.open("a") as config:
        config.write("  ProxyJump bastion\n")
    assert await where(spec) == "home-gpu"
    assert [len(node.connections) for node in chain.nodes.values()] == [1, 0, 1]


@pytest.mark.parametrize(
    ("jump", "address", "port", "user"),
    [
        ("Bastion", "Bastion", None, None),
        ("ann@10.0.0.1:2222", "10.0.0.1", 2222, "ann"),
        ("ssh://ann@[::1]:22/", "::1", 22, "ann"),
        ("[fe80::1]", "fe80::1", None, None),
    ],
)
def test_how_a_jump_host_is_written(jump: str, address: str, port: int | None, user: str | None) -> None:
    hop = jump_host(jump, HostSpec.from_alias("gpu"))
    assert (hop.address, hop.port, hop.username) == (address, port, user)


def test_a_jump_host_that_is_none() -> None:
    with pytest.raises(NodeUnreachable, match="The ProxyJump of gpu cannot be read: a:b"):
        jump_host("a:b", HostSpec.from_alias("gpu"))
