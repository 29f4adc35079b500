"""The store, asked once a second: samples while it answers, none while it does not, and its silence found."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from kvtui.campaign import store_watch, tiers
from kvtui.campaign.context import Context
from kvtui.campaign.steps import Block
from kvtui.campaign.store_watch import StoreWatch
from kvtui.campaign.target import Target
from kvtui.journal import Journal, iter_events
from kvtui.plan import Topology
from kvtui.progress import Progress
from kvtui.record import RunRecord
from remote.errors import StoreUnavailable
from remote.store import StoreInfo, parse_info, store_info
from tests.kvtui.plans import lab_plan
from tests.remote.waiting import reached

BLOCK = Block("valkey", (Topology.SINGLE,))
INFO = """# Server
redis_version:7.2.4
valkey_version:9.1.1
# Memory
used_memory:1000
maxmemory:4000
maxmemory_policy:allkeys-lru
# Stats
total_net_input_bytes:71
total_net_output_bytes:72
evicted_keys:3
# Commandstats
cmdstat_get:calls=12,usec=40,usec_per_call=3.33,rejected_calls=0,failed_calls=0
cmdstat_set:calls=34,usec=50,usec_per_call=1.5,rejected_calls=0,failed_calls=0
# Keyspace
db0:keys=9,expires=0,avg_ttl=0
"""


class Server:
    """A store that answers, refuses, or keeps its client waiting."""

    def __init__(self) -> None:
        self.state = "up"
        self.connections = 0
        self.asked = 0

    async def info(self) -> StoreInfo:
        self.asked += 1
        if self.state == "mute":
            await asyncio.Event().wait()
        if self.state == "down":
            raise StoreUnavailable("Valkey does not answer.")
        return store_info(parse_info(INFO))

    @asynccontextmanager
    async def connection(self, ctx: Context) -> AsyncIterator[Server]:
        if self.state == "down":
            raise StoreUnavailable("No Valkey answers.")
        self.connections += 1
        yield self


@pytest.fixture
def ctx(tmp_path: Path) -> Context:
    record = RunRecord(tmp_path)
    target = Target({}, {}, "m", store_address="10.0.0.5", store_port=6379)
    return Context(lab_plan(), target, record, Journal(record.events), {}, Progress())


@pytest.fixture
async def server(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    """A watched server, in a time fifty times as fast."""
    server = Server()
    monkeypatch.setattr(tiers, "store_of", server.connection)
    monkeypatch.setattr(store_watch, "SILENT_S", 0.2)
    monkeypatch.setattr(store_watch, "REFUSING_S", 0.1)
    monkeypatch.setattr(store_watch, "_PERIOD_S", 0.02)
    task = asyncio.create_task(StoreWatch(ctx, BLOCK).run())
    yield server
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def samples(ctx: Context) -> int:
    return sum(1 for event in iter_events(ctx.record.events) if event["kind"] == "store_sample")


def findings(ctx: Context) -> list[str]:
    return [event["finding"]["code"] for event in ctx.journal.of_kind("finding")]


async def test_a_store_that_answers_is_sampled_over_one_connection(ctx: Context, server: Server) -> None:
    await reached(lambda: samples(ctx) >= 20)
    assert server.connections == 1
    assert findings(ctx) == []
    event = next(event for event in iter_events(ctx.record.events) if event["kind"] == "store_sample")
    assert {name: event[name] for name in event if name not in ("v", "src", "wall_s", "kind")} == {
        "used_memory_bytes": 1000,
        "maxmemory_bytes": 4000,
        "keys": 9,
        "evicted_keys": 3,
        "net_in_bytes": 71,
        "net_out_bytes": 72,
        "get_calls": 12,
        "set_calls": 34,
    }


@pytest.mark.parametrize("state", ["down", "mute"])
async def test_a_store_that_says_nothing_is_found_once_and_gives_no_sample(
    ctx: Context, server: Server, state: str
) -> None:
    await reached(lambda: samples(ctx) >= 1)
    server.state = state
    await reached(lambda: findings(ctx) == ["store-silent"])
    before = samples(ctx)
    assert "10.0.0.5:6379" in next(ctx.journal.of_kind("finding"))["finding"]["text"]
    await asyncio.sleep(0.3)  # longer than the silence that is found
    assert samples(ctx) == before
    assert findings(ctx) == ["store-silent"]


@pytest.mark.parametrize(("state", "told"), [("down", ["store-silent"]), ("mute", []), ("up", [])])
async def test_a_store_that_refuses_is_told_of_when_the_watch_ends_before_its_silence_is_long(
    ctx: Context, monkeypatch: pytest.MonkeyPatch, state: str, told: list[str]
) -> None:
    server = Server()
    monkeypatch.setattr(tiers, "store_of", server.connection)
    monkeypatch.setattr(store_watch, "_PERIOD_S", 0.02)
    task = asyncio.create_task(StoreWatch(ctx, BLOCK).run())
    await reached(lambda: samples(ctx) >= 1)
    server.state = state
    asked = server.asked
    await reached(lambda: server.asked >= asked + 1)
    await asyncio.sleep(0)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert findings(ctx) == told


async def test_a_store_that_comes_back_is_sampled_again(ctx: Context, server: Server) -> None:
    await reached(lambda: samples(ctx) >= 1)
    server.state = "down"
    await reached(lambda: bool(findings(ctx)))
    before = samples(ctx)
    server.state = "up"
    await reached(lambda: samples(ctx) > before)


def test_a_store_that_was_never_used_has_counts_of_nothing() -> None:
    info = store_info(parse_info("# Server\nredis_version:7.2.4\n"))
    assert (info.version, info.keys, info.get_calls, info.evicted_keys) == ("7.2.4", 0, 0, 0)
