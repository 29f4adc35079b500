"""What is measured on a node for a plan, and what hinders what."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kvtui.campaign.ceiling_measuring import Measuring, measure_node
from kvtui.hosts_file import NodeEntry, Role
from kvtui.plan import Plan, load_plan
from kvtui.services.hosts import KnownNode
from kvtui.services.measure import CHUNK_BYTES, chunk_bytes, measuring_of
from remote.errors import AgentError, NodeUnreachable
from remote.hosts import HostSpec
from remote.link import Link
from tests.remote import ssh_server
from tests.remote.ssh_server import InProcess, Keys

CHUNK = 1 << 16


def known(*roles: Role, lab_store: tuple[str, int] | None = None) -> KnownNode:
    entry = NodeEntry(name="a", ssh="a", roles=roles)
    return KnownNode(entry, HostSpec("a", "a"), lab_store is not None, lab_store)


@pytest.fixture
def plan() -> Plan:
    return load_plan(Path("plans/seed.toml"))


def test_an_engine_node_of_a_plan(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    measuring, kinds = measuring_of(known(Role.GPU), plan, CHUNK)
    assert kinds == ("memory", "disk", "network")
    assert (measuring.directory, measuring.workers, measuring.chunk_bytes) == ("/mnt/nvme/kv", 8, CHUNK)
    assert (measuring.store_address, measuring.store_port, measuring.store_password) == ("valkey", 6379, "")
    assert plan.store
    monkeypatch.setenv("SECRET", "s")
    locked = plan.model_copy(update={"store": plan.store.model_copy(update={"password_env": "SECRET"})})
    assert measuring_of(known(Role.GPU), locked, CHUNK)[0].store_password == "s"


def test_nodes_without_a_plan() -> None:
    measuring, kinds = measuring_of(known(Role.GPU), None, CHUNK)
    assert (kinds, measuring.directory) == (("memory", "disk"), "~")
    assert measuring_of(known(Role.STORE), None, CHUNK)[1] == ("memory",)
    measuring, kinds = measuring_of(known(Role.GPU, lab_store=("127.0.0.1", 7000)), None, CHUNK)
    assert kinds == ("memory", "disk", "network")
    assert (measuring.store_address, measuring.store_port) == ("127.0.0.1", 7000)


def test_the_chunk_of_a_plan(plan: Plan) -> None:
    assert chunk_bytes(None, []) == CHUNK_BYTES
    assert chunk_bytes(plan, []) == 57_344 * 256
    model = plan.model.model_copy(update={"kv_bytes_per_token": None})
    assert chunk_bytes(plan.model_copy(update={"model": model}), []) == CHUNK_BYTES


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[InProcess]:
    home = tmp_path / "home"
    home.mkdir()
    async with ssh_server.in_process(home, Keys.generate(tmp_path / "keys")) as node:
        yield node


async def test_one_kind_that_fails_hinders_no_other(server: InProcess) -> None:
    said: list[str] = []
    link = Link(server.spec)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        measuring = Measuring(
            CHUNK,
            "~/kv",
            "127.0.0.1",
            closed.getsockname()[1],
            repeats=1,
            disk_limit_bytes=1 << 20,
            disk_slice_s=0.05,
            slice_s=0.05,
        )
        measured = await measure_node(link, measuring, ("network", "memory", "disk"), said.append)
    await link.close()
    assert {ceiling.what for ceiling in measured.ceilings} == {"memory", "disk-read", "disk-write"}
    disk = {ceiling.target for ceiling in measured.ceilings if ceiling.what == "disk-read"}
    assert disk == {f"{server.home}/kv"}
    [failure] = measured.failures
    assert isinstance(failure, AgentError)
    assert "gpu-a: measuring disk" in said


async def test_a_node_that_is_gone_is_not_asked_again(server: InProcess) -> None:
    await server.stop()
    said: list[str] = []
    link = Link(server.spec)
    measured = await measure_node(link, Measuring(CHUNK, "~"), ("memory", "disk"), said.append)
    await link.close()
    assert said == ["gpu-a: measuring memory"]
    assert [type(failure) for failure in measured.failures] == [NodeUnreachable]
