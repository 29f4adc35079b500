"""The lab with the Valkey server that it really runs."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from glide_sync import GlideClient, GlideClientConfiguration, NodeAddress

from remote import lab
from remote.lab import members, valkey
from tests.lab import helpers

pytestmark = pytest.mark.lab


@pytest.fixture
async def real_lab(paths: lab.LabPaths, engine_env: Path, lab_ids: set[str]) -> lab.LabInfo:
    parts = helpers.stand_in_parts(paths.root.parent, valkey.find_server(engine_env / "bin" / "python"))
    described = await lab.up(paths, lambda line: None, lambda: parts)
    lab_ids.add(described.lab_id)
    return described


async def test_it_is_known_as_a_part_of_the_lab(real_lab: lab.LabInfo) -> None:
    assert members.carries_marker(real_lab.store.pid, real_lab.lab_id)


async def test_it_refuses_when_full_and_forgets_at_the_end(real_lab: lab.LabInfo) -> None:
    address = NodeAddress(valkey.HOST, real_lab.store.port)
    client = GlideClient.create(GlideClientConfiguration([address]))
    settings = client.config_get(["maxmemory", "maxmemory-policy", "save", "appendonly"])
    client.close()
    assert settings == {
        b"maxmemory": str(real_lab.store.maxmemory_bytes).encode(),
        b"maxmemory-policy": b"noeviction",
        b"save": b"",
        b"appendonly": b"no",
    }


async def test_the_guard_ends_it_when_the_daemon_is_killed(real_lab: lab.LabInfo) -> None:
    os.kill(real_lab.daemon_pid, signal.SIGKILL)
    await helpers.eventually(lambda: not helpers.lives(real_lab.store.pid), "Valkey has ended")


async def test_down_ends_it_soon(real_lab: lab.LabInfo, paths: lab.LabPaths) -> None:
    assert await lab.down(paths, lambda line: None) is True
    assert not helpers.lives(real_lab.store.pid)
