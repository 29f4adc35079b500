"""A node served by this process, and a link to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from remote.link import Link
from tests.remote import ssh_server
from tests.remote.ssh_server import Keys


@pytest.fixture
def node_home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    return home


@pytest.fixture
async def link(node_home: Path, tmp_path: Path) -> AsyncIterator[Link]:
    async with ssh_server.in_process(node_home, Keys.generate(tmp_path / "keys")) as node:
        link = Link(node.spec)
        yield link
        await link.close()
