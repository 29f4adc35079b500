"""Each thing about a store that spoils a run is told, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from kvtui import storefacts
from kvtui.findings import Level
from kvtui.store_findings import GIB, MIB, store_findings
from kvtui.storefacts import StoreFacts

GOOD = StoreFacts(
    address="10.0.0.20:6379",
    read_wall_s=1.0,
    version="9.1.1",
    mode="standalone",
    role="master",
    used_memory_bytes=1 * GIB,
    host_memory_bytes=64 * GIB,
    maxmemory_bytes=48 * GIB,
    policy="allkeys-lru",
    rdb_saves="",
    aof=False,
    proto_max_bulk_bytes=512 * MIB,
    io_threads=8,
    tls="off",
    auth=False,
    user="default",
    keys=0,
    expiring_keys=0,
    sampled_keys=0,
    lmcache_keys=0,
    foreign_keys=0,
    evicted_keys=0,
)
WORKING_SET, CHUNK = 16 * GIB, 14 * MIB


def codes(facts: StoreFacts, working_set: int | None = WORKING_SET, chunk: int | None = CHUNK) -> list[str]:
    return [finding.code for finding in store_findings(facts, working_set, chunk)]


def test_a_store_fit_for_the_run_and_one_that_tells_nothing_give_no_findings() -> None:
    assert codes(GOOD) == []
    assert codes(StoreFacts("a:1", 1.0)) == []


@pytest.mark.parametrize(
    ("code", "level", "change"),
    [
        ("store-tls-only", Level.BLOCKING, {"tls": "only"}),
        ("store-not-standalone", Level.BLOCKING, {"mode": "cluster"}),
        ("store-replica", Level.BLOCKING, {"role": "slave"}),
        ("store-bulk-limit", Level.BLOCKING, {"proto_max_bulk_bytes": CHUNK - 1}),
        ("store-too-small", Level.WARNING, {"maxmemory_bytes": 17 * GIB - 1}),
        ("store-no-limit", Level.WARNING, {"maxmemory_bytes": 0, "host_memory_bytes": 18 * GIB}),
        ("store-volatile-policy", Level.WARNING, {"policy": "volatile-lru"}),
        ("store-random-policy", Level.WARNING, {"policy": "allkeys-random"}),
        ("store-evicts-others", Level.WARNING, {"keys": 3, "sampled_keys": 3, "foreign_keys": 3}),
        ("store-rdb-saves", Level.WARNING, {"rdb_saves": "3600 1 300 100"}),
        ("store-aof", Level.WARNING, {"aof": True}),
        ("store-earlier-keys", Level.INFO, {"keys": 2, "sampled_keys": 2, "lmcache_keys": 2}),
        ("store-one-io-thread", Level.INFO, {"io_threads": 1}),
        ("store-denied", Level.INFO, {"denied": ("CONFIG GET",)}),
    ],
)
def test_what_spoils_a_run_is_found(code: str, level: Level, change: dict[str, Any]) -> None:
    [finding] = store_findings(replace(GOOD, **change), WORKING_SET, CHUNK)
    assert (finding.code, finding.level, finding.where) == (code, level, "10.0.0.20:6379")


def test_limits_are_met_exactly_without_a_finding() -> None:
    assert codes(replace(GOOD, maxmemory_bytes=17 * GIB, proto_max_bulk_bytes=CHUNK)) == []


def test_without_a_limit_no_policy_matters() -> None:
    assert codes(replace(GOOD, maxmemory_bytes=0, policy="volatile-lru")) == []


def test_without_a_model_its_sizes_are_not_asked_about() -> None:
    assert codes(replace(GOOD, maxmemory_bytes=1, proto_max_bulk_bytes=1), None, None) == []


def test_the_worst_comes_first() -> None:
    facts = replace(GOOD, io_threads=1, aof=True, role="slave")
    assert codes(facts) == ["store-replica", "store-aof", "store-one-io-thread"]


def test_facts_survive_json() -> None:
    for facts in (GOOD, replace(GOOD, denied=("CONFIG GET",)), StoreFacts("a:1", 1.0)):
        assert storefacts.from_json(json.loads(json.dumps(facts.to_json()))) == facts
