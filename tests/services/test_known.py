"""What is known beside a plan: from its nodes over a real link, and from kvtui's own files."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from kvtui.campaign.target import Target
from kvtui.ceiling_store import CeilingStore
from kvtui.paths import Places, places
from kvtui.plan import Plan
from kvtui.recordings import RECORDED
from kvtui.services import known
from kvtui.services.known import known_here, last_measured, read_known
from remote.errors import NodeUnreachable
from remote.hosts import HostSpec
from tests.kvtui.knowing import H200_DISK, changed, seed_plan
from tests.kvtui.plans import lab_plan
from tests.remote import ssh_server
from tests.remote.ssh_server import Keys


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    for name in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    return places()


def _targets(monkeypatch: pytest.MonkeyPatch, hosts: dict[str, HostSpec]) -> None:
    target = Target(
        hosts=hosts,
        engine_python=dict.fromkeys(hosts, "/no/python"),
        model_path="m",
        store_node="valkey",
        store_address="127.0.0.1",
        store_port=1,
    )
    monkeypatch.setattr(known, "target_of_plan", lambda plan: target)


async def test_nodes_are_read_and_what_fails_is_told(
    where: Places, node_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ssh_server.in_process(node_home, Keys.generate(tmp_path / "keys")) as node:
        gone = HostSpec("gpu-b", "127.0.0.1", 1)
        hosts = {"gpu-a": node.spec, "gpu-b": gone, "valkey": replace(node.spec, name="valkey")}
        _targets(monkeypatch, hosts)
        reading = await read_known(seed_plan(), where)
    assert sorted(reading.known.facts) == ["gpu-a", "valkey"]
    assert reading.known.homes["gpu-a"] == str(node_home)
    assert reading.known.facts["gpu-a"].ram_total_bytes
    assert sorted(reading.failures) == ["gpu-b", "store"]
    assert isinstance(reading.failures["gpu-b"], NodeUnreachable)
    assert reading.known.store is None


async def test_a_lab_that_is_down_is_told(where: Places) -> None:
    with pytest.raises(NodeUnreachable, match="kvtui lab up"):
        await read_known(lab_plan(), where)


def _record(where: Places, run: str) -> Plan:
    shutil.copytree(RECORDED, where.runs / run)
    return Plan.model_validate_json((RECORDED / "plan.json").read_text(encoding="utf-8"))


def test_the_latest_finished_run_of_the_model_is_found(where: Places) -> None:
    plan = _record(where, "261101-000000-aaaa")
    _record(where, "261102-000000-bbbb")
    (where.runs / "261103-000000-cccc").mkdir()
    (where.runs / "261103-000000-cccc" / "plan.json").write_text("{}")
    found = last_measured(plan, where)
    assert found is not None
    assert found.run == "261102-000000-bbbb"
    longer = changed(plan, corpus={"tokens": 4096})
    other = last_measured(longer, where)
    assert other is not None
    assert not other.speaks_of(longer)
    assert last_measured(changed(plan, model={"served_name": "other"}), where) is None


def test_ceilings_and_prices_are_those_that_were_kept(where: Places) -> None:
    assert known_here(seed_plan(), where).ceilings == ()
    CeilingStore(where.state).add([H200_DISK])
    where.config.mkdir(parents=True)
    (where.config / "hosts.toml").write_text(
        '[nodes.gpu-a]\nssh = "a"\nhourly_price = 2.0\n', encoding="utf-8"
    )
    found = known_here(seed_plan(), where)
    assert found.ceilings == (H200_DISK,)
    assert found.prices == {"gpu-a": 2.0}
