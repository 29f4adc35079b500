"""A preflight over a real link: every row is answered, and each fault that is planted is found."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from kvtui.campaign.target import Target
from kvtui.paths import Places, places
from kvtui.plan import Plan, parse_plan
from kvtui.preflight import CheckRow, State, verdict
from kvtui.services import asking_nodes, preflight
from kvtui.services.links import LinkPool
from kvtui.services.preflight import Preflight
from kvtui.services.stores import read_store
from kvtui.storefacts import StoreFacts
from remote.hosts import HostSpec
from remote.link import Link
from tests.campaign.conftest import CONFIG, ENGINE
from tests.kvtui.plans import lab_plan
from tests.remote import ssh_server
from tests.remote.resp_server import RespServer, resp_server
from tests.remote.ssh_server import Keys

Reader = Callable[..., Awaitable[StoreFacts]]
PLAN = """
name = "test"
[model]
path = "{model}"
served_name = "tiny"
[corpus]
documents = 2
tokens = 300
[nodes.gpu-a]
ssh = "gpu-a"
[nodes.gpu-b]
ssh = "gpu-b"
[nodes.valkey]
ssh = "gpu-a"
[store]
node = "valkey"
[[tiers]]
name = "dram"
kind = "dram"
capacity_gib = 0.01
[[tiers]]
name = "disk"
kind = "disk"
path = "~/kv"
capacity_gib = 0.01
[[tiers]]
name = "valkey"
kind = "valkey"
capacity_gib = 0.01
"""


def store_of(known_port: int, otherwise: Reader) -> Reader:
    """Reads the facts of the one store that is there."""

    async def read(link: Link, address: str, port: int, password: str = "") -> StoreFacts:
        if port != known_port:
            return await otherwise(link, address, port, password)
        return StoreFacts(
            f"{address}:{port}",
            0.0,
            version="9.1.1",
            used_memory_bytes=1000,
            maxmemory_bytes=0,
            policy="noeviction",
            rdb_saves="",
            aof=False,
        )

    return read


@dataclass
class World:
    """Two engine nodes that are one machine, a store, and who checks them."""

    check: Preflight
    target: Target
    home: Path
    server: RespServer
    where: Places
    told: list[tuple[CheckRow, ...]]

    @property
    def plan(self) -> Plan:
        """A plan for them."""
        return parse_plan(PLAN.format(model=self.home / "model"), "test")

    async def rows(self, plan: Plan | None = None) -> dict[tuple[str, str], CheckRow]:
        """Check everything; rows by check and node."""
        found = await self.check.check(plan or self.plan, on_lab=False, told=self.told.append)
        return {(row.id, row.node): row for row in found}


@pytest.fixture
async def world(tmp_path: Path, node_home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    for name in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    (node_home / "model").mkdir()
    (node_home / "model" / "config.json").write_text(json.dumps(CONFIG))
    engine = node_home / "engine-python"
    engine.write_text(ENGINE.format(python=sys.executable, body="raise SystemExit"))
    engine.chmod(0o755)
    pool = LinkPool()
    async with ssh_server.in_process(node_home, Keys.generate(tmp_path / "keys")) as node:
        with resp_server(RespServer()) as server:
            hosts = {name: replace(node.spec, name=name) for name in ("gpu-a", "gpu-b", "valkey")}
            target = Target(
                hosts=hosts,
                engine_python=dict.fromkeys(("gpu-a", "gpu-b"), str(engine)),
                model_path=str(node_home / "model"),
                store_node="valkey",
                store_address="127.0.0.1",
                store_port=server.port,
            )
            # The client that LMCache uses wants more of a server than this one speaks.
            monkeypatch.setattr(asking_nodes, "read_store", store_of(server.port, read_store))
            world = World(Preflight(places(), pool), target, node_home, server, places(), [])
            monkeypatch.setattr(preflight, "target_of_plan", lambda plan: world.target)
            yield world
            await pool.close()


async def test_whole_nodes_block_nothing_and_every_row_is_told_as_it_changes(world: World) -> None:
    rows = await world.rows()
    assert verdict(rows.values()).blocking == ()
    for check in ("ssh", "python", "lock"):
        for node in ("gpu-a", "gpu-b", "valkey"):
            assert rows[check, node].state is State.OK
    for node in ("gpu-a", "gpu-b"):
        assert rows["engine", node].measured == "0.28.0, 0.5.4"
        for check in ("model", "ports", "value"):
            assert rows[check, node].state is State.OK, rows[check, node]
    assert rows["kv-size", ""].state is State.OK
    assert rows["sharing", ""].state is State.OK
    assert not {State.RUNNING, State.WAITING} & {row.state for row in rows.values()}
    first = {row.state for row in world.told[0]}
    assert first <= {State.WAITING, State.RUNNING, State.UNKNOWN}
    assert any(row.state is State.RUNNING for rows in world.told for row in rows)
    # Its own value is gone again.
    assert world.server.values == {}
    assert any(words[0] == b"SET" and words[1].startswith(b"kvtui-check-") for words in world.server.seen)


async def test_a_node_that_is_gone_is_told_of_once_and_hinders_no_other(world: World) -> None:
    gone = HostSpec("gpu-b", "127.0.0.1", 1)
    world.target = replace(world.target, hosts={**world.target.hosts, "gpu-b": gone})
    rows = await world.rows()
    blocking = verdict(rows.values()).blocking
    assert [(row.id, row.node) for row in blocking] == [("ssh", "gpu-b")]
    assert rows["engine", "gpu-a"].state is State.OK
    assert "gpu-b" in world.check.failures


async def test_a_held_node_names_the_run_and_can_be_asked_again(world: World) -> None:
    link = world.check._pool.get(world.target.hosts["gpu-a"])
    await link.agent("lock", run="260101-000000-abcd", owner="ann@desk", lease_s=60)
    rows = await world.rows()
    held = rows["lock", "gpu-a"]
    assert (held.state, held.measured) == (State.FAILED, "run 260101-000000-abcd")
    assert held.finding is not None
    assert "ann@desk" in held.finding.text
    await link.agent("unlock", run="260101-000000-abcd")
    again = await world.check.recheck(held, world.told.append)
    assert next(row for row in again if row.id == "lock" and row.node == "gpu-a").state is State.OK


async def test_asking_who_holds_a_node_takes_nothing(world: World) -> None:
    await world.rows()
    assert not (world.home / ".kvtui" / "lock.json").exists()


async def test_a_missing_model_and_a_missing_engine_block(world: World) -> None:
    world.target = replace(
        world.target,
        model_path="/nowhere/model",
        engine_python={"gpu-a": "/nowhere/python", "gpu-b": world.target.engine_python["gpu-b"]},
    )
    rows = await world.rows()
    assert rows["model", "gpu-a"].state is State.FAILED
    assert rows["engine", "gpu-a"].state is State.FAILED
    assert rows["engine", "gpu-b"].state is State.OK
    assert rows["versions", "gpu-b"].state is State.WARNING


async def test_a_store_that_does_not_answer_blocks(world: World) -> None:
    world.target = replace(world.target, store_port=1)
    rows = await world.rows()
    assert rows["store", "valkey"].state is State.FAILED
    assert ("value", "gpu-a") not in rows  # told once


async def test_a_store_without_room_for_a_chunk_blocks(world: World) -> None:
    world.server.info = "used_memory:1000\r\nmaxmemory:1001\r\n"
    rows = await world.rows()
    assert rows["value", "gpu-a"].state is State.FAILED


async def test_a_store_that_gives_nothing_back_blocks(world: World) -> None:
    world.server.forget = True
    rows = await world.rows()
    assert rows["value", "gpu-a"].state is State.FAILED


async def test_a_password_that_is_not_set_blocks(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_PASSWORD", raising=False)
    text = PLAN.format(model=world.home / "model")
    plan = parse_plan(text.replace("[store]", '[store]\npassword_env = "NO_SUCH_PASSWORD"'), "test")
    rows = await world.rows(plan)
    assert rows["password", "valkey"].state is State.FAILED


async def test_a_fix_changes_the_plan_that_the_person_wrote(world: World) -> None:
    text = PLAN.format(model=world.home / "model")
    plan = parse_plan(text.replace("[nodes.gpu-a]", '[hash]\nseed_on = {gpu-b = "1"}\n[nodes.gpu-a]'), "test")
    rows = await world.rows(plan)
    row = rows["sharing", ""]
    assert row.state is State.FAILED
    assert "PYTHONHASHSEED" in row.fix
    mended = world.check.mended(row)
    assert mended is not None
    assert (await world.rows(mended))["sharing", ""].state is State.OK


async def test_a_lab_that_is_down_asks_no_node(world: World) -> None:
    found = await world.check.check(lab_plan(), on_lab=False, told=world.told.append)
    rows = {(row.id, row.node): row for row in found}
    assert rows["lab", ""].measured == "will be started"
    assert {row.node for row in found} == {""}


async def test_a_plan_that_cannot_be_scaled_to_the_lab_is_refused_before_anything(world: World) -> None:
    found = await world.check.check(world.plan, on_lab=True, told=world.told.append)
    assert [(row.id, row.state) for row in found] == [("plan", State.FAILED)]
