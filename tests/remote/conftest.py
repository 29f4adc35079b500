"""A node to talk to, and a link to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from remote.link import Link
from tests.remote import ssh_server
from tests.remote.node_runner import LocalNode
from tests.remote.ssh_server import InProcess, Keys, Node


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys.generate(tmp_path / "keys")


@pytest.fixture
def node_home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    return home


@pytest.fixture
async def server(node_home: Path, keys: Keys) -> AsyncIterator[InProcess]:
    """A node served by this process, which can be stopped and started again."""
    async with ssh_server.in_process(node_home, keys) as node:
        yield node


@pytest.fixture(params=["in-process", "sshd"])
async def node(request: pytest.FixtureRequest, node_home: Path, keys: Keys) -> AsyncIterator[Node]:
    """A node, once served by this process and once by the system's sshd."""
    if request.param == "sshd":
        if ssh_server.SSHD is None:
            pytest.skip("sshd is not installed (Debian package openssh-server)")
        async with ssh_server.sshd(node_home, keys) as node:
            yield node
    else:
        async with ssh_server.in_process(node_home, keys) as served:
            yield served


@pytest.fixture
async def link(node: Node) -> AsyncIterator[Link]:
    link = Link(node.spec)
    yield link
    await link.close()


@pytest.fixture
def local(node_home: Path) -> Iterator[LocalNode]:
    """The node's side alone; nothing that it started outlives the test."""
    node = LocalNode(node_home)
    yield node
    node.sweep()
