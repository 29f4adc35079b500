"""Plans for the app's screen, over kvtui's own files."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvtui.errors import PlanError
from kvtui.hosts_file import NodeEntry
from kvtui.paths import Places, places
from kvtui.plan import load_plan
from kvtui.services.app_nodes import AppNodes
from kvtui.services.app_plans import AppPlans
from kvtui.services.hosts import HostsStore
from kvtui.services.links import LinkPool
from tests.kvtui.knowing import facts, seed_plan, store
from tests.kvtui.plans import lab_plan


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    for name in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    return places()


@pytest.fixture
def nodes(where: Places) -> AppNodes:
    return AppNodes(where, LinkPool(None))


def test_what_is_saved_is_named_and_loaded_again(where: Places, nodes: AppNodes) -> None:
    plans = AppPlans(where, nodes)
    assert plans.names() == ()
    kept = plans.save("mine", seed_plan())
    assert kept.name == "mine"
    assert plans.names() == ("mine",)
    assert plans.load("mine") == kept
    with pytest.raises(PlanError, match="no name for a plan"):
        plans.save("No name", seed_plan())


def test_an_export_overwrites_nothing(where: Places, nodes: AppNodes) -> None:
    plans = AppPlans(where, nodes)
    first, second = plans.export(seed_plan()), plans.export(seed_plan())
    assert (Path(first).name, Path(second).name) == ("seed.toml", "seed-2.toml")
    assert load_plan(Path(second)) == seed_plan()


def test_kvtuis_own_plans_begin_with_the_lab(where: Places, nodes: AppNodes) -> None:
    assert list(AppPlans(where, nodes).shipped()) == ["lab", "seed"]


async def test_what_the_app_has_read_of_the_plans_nodes_is_known(where: Places, nodes: AppNodes) -> None:
    plan = seed_plan()
    await nodes.entries(plan)
    nodes.facts = {"gpu-a": facts("gpu-a"), "other": facts("other")}
    nodes.homes = {"gpu-a": "/root", "other": "/root"}
    nodes.stores = {"valkey valkey:6379": store(policy="noeviction")}
    known = await AppPlans(where, nodes).known(plan)
    assert list(known.facts) == ["gpu-a"]
    assert known.homes == {"gpu-a": "/root"}
    assert known.store is not None
    assert known.store.policy == "noeviction"
    nodes.stores = {}
    assert (await AppPlans(where, nodes).known(plan)).store is None


async def test_another_machine_of_the_same_name_says_nothing(where: Places, nodes: AppNodes) -> None:
    HostsStore(where.config).add(NodeEntry(name="gpu-a", ssh="me@elsewhere"))
    await nodes.entries(seed_plan())
    nodes.facts = {"gpu-a": facts("gpu-a"), "gpu-b": facts("gpu-b")}
    assert list((await AppPlans(where, nodes).known(seed_plan())).facts) == ["gpu-b"]
    assert not (await AppPlans(where, nodes).known(lab_plan())).facts


async def test_commands_are_those_of_the_plan(where: Places, nodes: AppNodes) -> None:
    plans = AppPlans(where, nodes)
    text = plans.commands(seed_plan(), await plans.known(seed_plan()))
    assert "gpu-a: dram" in text
    assert "max_local_cpu_size: 8" in text
