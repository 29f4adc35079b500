"""The lab with the Valkey server that it really runs."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest
from glide_sync import GlideClient, GlideClientConfiguration, NodeAddress

from kvtui.campaign import store_watch
from kvtui.campaign.context import Context
from kvtui.campaign.lab_target import target_of_lab
from kvtui.campaign.steps import Block
from kvtui.campaign.store_watch import StoreWatch
from kvtui.journal import Journal, iter_events
from kvtui.plan import Topology
from kvtui.progress import Progress
from kvtui.record import RunRecord
from remote import lab
from remote.lab import members, valkey
from remote.link import Link
from tests.kvtui.plans import lab_plan
from tests.lab import helpers
from tests.remote.waiting import reached

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


async def test_its_silence_is_found_and_its_return_seen(
    real_lab: lab.LabInfo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_watch, "SILENT_S", 2.0)
    plan, record = lab_plan(), RunRecord(tmp_path)
    target = target_of_lab(real_lab, plan.engine_nodes)
    links = {name: Link(host) for name, host in target.hosts.items()}
    ctx = Context(plan, target, record, Journal(record.events), links, Progress())

    def samples() -> int:
        return sum(1 for event in iter_events(record.events) if event["kind"] == "store_sample")

    task = asyncio.create_task(StoreWatch(ctx, Block("valkey", (Topology.SINGLE,))).run())
    try:
        await reached(lambda: samples() >= 4)
        assert list(ctx.journal.of_kind("finding")) == []
        os.kill(real_lab.store.pid, signal.SIGSTOP)
        await reached(lambda: any(ctx.journal.of_kind("finding")))
        silent = samples()
        os.kill(real_lab.store.pid, signal.SIGCONT)
        await reached(lambda: samples() >= silent + 2)
        finding = next(ctx.journal.of_kind("finding"))["finding"]
        assert finding["code"] == "store-silent"
        sampled = [event for event in iter_events(record.events) if event["kind"] == "store_sample"]
        assert all(event["used_memory_bytes"] > 0 for event in sampled)
        assert sampled[-1]["net_in_bytes"] > sampled[0]["net_in_bytes"]
    finally:
        os.kill(real_lab.store.pid, signal.SIGCONT)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        for link in links.values():
            await link.close()
