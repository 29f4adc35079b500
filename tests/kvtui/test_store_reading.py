"""A store's facts from what it answered; what it refused stays unknown."""

from __future__ import annotations

import pytest

from kvtui.store_reading import looks_like_lmcache, store_facts
from kvtui.storefacts import StoreFacts

INFO = {
    "redis_version": "7.2.4",
    "valkey_version": "9.1.1",
    "server_mode": "standalone",
    "role": "master",
    "used_memory": "1349072",
    "total_system_memory": "25276063744",
    "maxmemory": "2147483648",
    "maxmemory_policy": "noeviction",
    "evicted_keys": "7",
    "aof_enabled": "0",
    "db0": "keys=5,expires=2,avg_ttl=3600",
}
CONFIG = {
    "save": "3600 1 300 100",
    "appendonly": "yes",
    "proto-max-bulk-len": "536870912",
    "io-threads": "4",
    "tls-port": "0",
}
KEY = "Qwen/Qwen2.5-7B-Instruct@1@0@b8a960cfcc69e7a5@bfloat16"


@pytest.mark.parametrize(
    ("key", "is_lmcache"),
    [
        (KEY, True),
        (f"{KEY}@run%ID", True),
        (f"{KEY}kv_bytes", True),
        ("/models/a@home@2@1@-1f@half", True),
        ("session:42", False),
        ("user@host@example", False),
        ("kvtui-ceiling-ab-1", False),
        ("", False),
    ],
)
def test_keys_of_lmcache_are_known_by_their_form(key: str, is_lmcache: bool) -> None:
    assert looks_like_lmcache(key) is is_lmcache


def test_everything_that_a_server_tells() -> None:
    found = store_facts(
        "h:1",
        1.0,
        auth=True,
        info=INFO,
        config=CONFIG,
        user="default",
        keys=5,
        sample=[KEY, KEY, "session:42"],
    )
    assert (found.version, found.mode, found.role) == ("9.1.1", "standalone", "master")
    assert (found.used_memory_bytes, found.maxmemory_bytes) == (1349072, 2147483648)
    assert found.free_bytes == 2147483648 - 1349072
    assert (found.policy, found.rdb_saves, found.aof) == ("noeviction", "3600 1 300 100", True)
    assert (found.proto_max_bulk_bytes, found.io_threads, found.tls) == (536870912, 4, "off")
    assert (found.keys, found.expiring_keys, found.sampled_keys) == (5, 2, 3)
    assert (found.lmcache_keys, found.foreign_keys, found.evicted_keys) == (2, 1, 7)


def test_what_is_refused_stays_unknown() -> None:
    found = store_facts("h:1", 1.0, info=INFO, config={}, denied=("CONFIG GET", "SCAN"))
    assert (found.rdb_saves, found.proto_max_bulk_bytes, found.io_threads, found.tls) == (None,) * 4
    assert (found.sampled_keys, found.lmcache_keys, found.foreign_keys) == (None,) * 3
    assert found.aof is False
    assert found.denied == ("CONFIG GET", "SCAN")
    assert store_facts("h:1", 1.0) == StoreFacts("h:1", 1.0)


def test_a_server_with_tls() -> None:
    assert store_facts("h:1", 1.0, tls_only=True) == StoreFacts("h:1", 1.0, tls="only")
    assert store_facts("h:1", 1.0, config={"tls-port": "6380"}).tls == "offered"


def test_an_empty_database_has_no_keys_that_expire() -> None:
    info = {name: value for name, value in INFO.items() if name != "db0"}
    assert store_facts("h:1", 1.0, info=info, keys=0).expiring_keys == 0
