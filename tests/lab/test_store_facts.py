"""A real Valkey asked what it is, and the way to it measured with the engine's own client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from glide_sync import GlideClient, GlideClientConfiguration, NodeAddress

from kvtui.campaign.ceiling_measuring import Measuring, measure_ceilings
from kvtui.services.stores import read_store
from kvtui.store_findings import store_findings
from remote.errors import StoreUnavailable
from remote.hosts import HostSpec
from remote.lab import valkey
from remote.link import Link

pytestmark = pytest.mark.lab
CHUNK = 1 << 20
LMCACHE_KEY = "Qwen/Qwen2.5-7B-Instruct@1@0@b8a960cfcc69e7a5@bfloat16"


@pytest.fixture
async def port(engine_env: Path, tmp_path: Path) -> AsyncIterator[int]:
    server = valkey.find_server(engine_env / "bin" / "python")
    process, port = await valkey.start(server, tmp_path, tmp_path / "valkey.log", 256 << 20)
    yield port
    process.kill()
    await process.wait()


@pytest.fixture
async def link(node: HostSpec) -> AsyncIterator[Link]:
    link = Link(node)
    yield link
    await link.close()


def client(port: int) -> GlideClient:
    return GlideClient.create(GlideClientConfiguration([NodeAddress(valkey.HOST, port)]))


async def test_a_server_as_the_lab_starts_it(link: Link, port: int) -> None:
    found = await read_store(link, valkey.HOST, port)
    assert (found.mode, found.role, found.policy) == ("standalone", "master", "noeviction")
    assert (found.maxmemory_bytes, found.rdb_saves, found.aof) == (256 << 20, "", False)
    assert (found.proto_max_bulk_bytes, found.tls, found.auth, found.user) == (
        512 << 20,
        "off",
        False,
        "default",
    )
    assert (found.keys, found.lmcache_keys, found.foreign_keys, found.denied) == (0, 0, 0, ())
    codes = [finding.code for finding in store_findings(found, 512 << 20, CHUNK)]
    assert codes == ["store-too-small", "store-one-io-thread"]


async def test_a_server_with_faults_and_a_user_with_few_rights(link: Link, port: int) -> None:
    owner = client(port)
    owner.set(LMCACHE_KEY, b"kv")
    owner.set("session:42", b"x")
    owner.config_set({"maxmemory-policy": "allkeys-lru", "save": "3600 1", "proto-max-bulk-len": "1048576"})
    found = await read_store(link, valkey.HOST, port)
    assert (found.keys, found.lmcache_keys, found.foreign_keys) == (2, 1, 1)
    codes = [finding.code for finding in store_findings(found, 1, CHUNK + 1)]
    assert codes == [
        "store-bulk-limit",
        "store-evicts-others",
        "store-rdb-saves",
        "store-earlier-keys",
        "store-one-io-thread",
    ]
    owner.custom_command(["ACL", "SETUSER", "default", "-config", "-acl|whoami", "-scan"])
    found = await read_store(link, valkey.HOST, port)
    assert found.denied == ("CONFIG GET", "ACL WHOAMI", "SCAN")
    assert (found.keys, found.user, found.rdb_saves, found.lmcache_keys) == (2, None, None, None)
    assert found.policy == "allkeys-lru"
    owner.close()


async def test_a_server_with_a_password(link: Link, port: int) -> None:
    owner = client(port)
    owner.config_set({"requirepass": "s3cret"})
    assert (await read_store(link, valkey.HOST, port, "s3cret")).auth is True
    with pytest.raises(StoreUnavailable, match="refuses the password"):
        await read_store(link, valkey.HOST, port)
    owner.close()


async def test_the_engines_own_client_is_measured_and_leaves_nothing(
    link: Link, port: int, engine_env: Path
) -> None:
    measuring = Measuring(
        CHUNK,
        store_address=valkey.HOST,
        store_port=port,
        workers=2,
        engine_python=str(engine_env / "bin" / "python"),
        repeats=2,
        store_limit_bytes=8 * CHUNK,
        slice_s=0.1,
    )
    found = await measure_ceilings(link, measuring, "network")
    assert [(ceiling.how, ceiling.tool.partition(" ")[0]) for ceiling in found] == [
        ("plain socket, 2 workers", "kvtui"),
        ("glide, 2 workers", "valkey-glide-sync"),
        ("plain socket, 4 workers", "kvtui"),
        ("glide, 4 workers", "valkey-glide-sync"),
    ]
    owner = client(port)
    assert owner.dbsize() == 0
    owner.close()
