"""Labs to test: a node served by this process, and a whole lab with a stand-in for its Valkey."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncssh
import pytest

from bench.place import Place, make_place
from remote import lab
from remote.hosts import HostSpec
from remote.lab import info, members, sshserver
from remote.lab.paths import LabPaths
from tests.lab import helpers


@pytest.fixture
def paths(tmp_path: Path) -> LabPaths:
    return LabPaths(root=tmp_path / "lab", engine_env=tmp_path / "engine")


@pytest.fixture
def parts(tmp_path: Path) -> lab.LabParts:
    """Parts that need no engine environment."""
    return helpers.stand_in_parts(tmp_path)


@pytest.fixture
def lab_ids(paths: LabPaths) -> Iterator[set[str]]:
    """Ids of labs that a test started: whatever happens, nothing of them is left."""
    ids: set[str] = set()
    yield ids
    described = info.read(paths.info)
    if described is not None:
        ids.add(described.lab_id)
    for lab_id in ids:
        assert members.end(lab_id, grace_s=0.5) == []


@pytest.fixture
async def node(paths: LabPaths) -> AsyncIterator[HostSpec]:
    """One node of a lab, its SSH server in this process."""
    lab_id = "test-" + os.urandom(4).hex()
    hosts, acceptors = await sshserver.start(paths, lab_id, ("gpu-a",), sshserver.Connections())
    yield hosts["gpu-a"]
    for acceptor in acceptors:
        acceptor.close()
    assert members.end(lab_id, grace_s=0.2) == []


@pytest.fixture
async def connection(node: HostSpec) -> AsyncIterator[asyncssh.SSHClientConnection]:
    async with helpers.connect(node) as connection:
        yield connection
        with contextlib.suppress(OSError):
            connection.abort()


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory, engine_env: Path) -> Iterator[Place]:
    """Where whole runs on the lab are recorded; each of them brings the lab up and takes it down."""
    place = make_place(tmp_path_factory.mktemp("place"), engine_env)
    yield place
    place.kvtui("lab", "down")
