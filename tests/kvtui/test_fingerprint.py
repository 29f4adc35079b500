"""Fingerprints of real engines, and what they mean for sharing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kvtui.findings import Level
from kvtui.fingerprint import Fingerprint, differences, fingerprint_findings, read_fingerprint
from kvtui.hash_seed import check_seed, is_fixed
from kvtui.plan import Tier, TierKind, Topology

LOGS = Path(__file__).parents[1] / "data" / "logs"
VALKEY = Tier(name="valkey", kind=TierKind.VALKEY, capacity_gib=1)
BOTH = (Topology.SINGLE, Topology.FLEET)
A = Fingerprint(
    ("5625442194607170974",), "sha256_cbor", "m", "1", "torch.float32", "4, 2, 256, 4, 64", ("0",)
)


def fingerprint(name: str, *seeds: str | None) -> Fingerprint:
    text = (LOGS / f"{name}.log").read_text(encoding="utf-8", errors="replace")
    return read_fingerprint(text.splitlines(), seeds)


def test_an_engines_own_log_gives_all_that_is_in_its_keys() -> None:
    assert fingerprint("fleet-sha-seed-0-node-a", "0", "0") == Fingerprint(
        none_hashes=("5625442194607170974",),
        algorithm="sha256_cbor_64bit",
        model="/opt/lab/models/tiny",
        world_size="1",
        dtype="torch.float32",
        kv_shape="4, 2, 256, 4, 64",
        seeds=("0",),
        config={
            "chunk_size": "256",
            "pre_caching_hash_algorithm": "sha256_cbor_64bit",
            "save_unfull_chunk": "False",
            "remote_serde": "naive",
            "remote_url": "valkey://127.0.0.1:6401",
            "use_layerwise": "False",
            "enable_blending": "False",
        },
    )


@pytest.mark.parametrize(
    ("name", "size"), [("fleet-sha-seed-0-node-a", 8192), ("valkey-lmcache-0.5.3", 57344)]
)
def test_the_engines_own_shape_gives_the_bytes_of_a_token(name: str, size: int) -> None:
    assert fingerprint(name, "0").bytes_per_token == size


@pytest.mark.parametrize(
    ("world_size", "shape", "size"),
    [("2", "4, 2, 256, 4, 64", 16384), ("8", "61, 1, 256, 1, 576", 140_544), ("", "4, 2, 256, 4, 64", None)],
)
def test_ranks_store_their_shares_and_latent_kv_is_stored_once(
    world_size: str, shape: str, size: int | None
) -> None:
    print_ = Fingerprint(world_size=world_size, dtype="torch.float32", kv_shape=shape)
    assert print_.bytes_per_token == size


def test_engines_without_a_seed_differ_in_none_hash_and_the_fleet_stops() -> None:
    nodes = {
        "gpu-a": fingerprint("fleet-sha-seed-unset-node-a", None),
        "gpu-b": fingerprint("fleet-sha-seed-unset-node-b", None),
    }
    found = fingerprint_findings(VALKEY, BOTH, {"gpu-a": None, "gpu-b": None}, nodes)
    assert [(one.level, one.code) for one in found] == [(Level.BLOCKING, "fingerprint-differs")]
    assert "11987998762299398559" in found[0].text
    assert "2032482224482299222" in found[0].text


def test_a_fleet_that_cannot_share_may_go_on_when_the_plan_accepts_it() -> None:
    nodes = {"gpu-a": A, "gpu-b": replace(A, none_hashes=("1",))}
    found = fingerprint_findings(VALKEY, BOTH, {"gpu-a": "0", "gpu-b": "0"}, nodes, accepted=True)
    assert [(one.level, one.code) for one in found] == [(Level.WARNING, "fingerprint-differs")]
    assert "accepts" in found[0].text


@pytest.mark.parametrize("part", ["none_hashes", "algorithm", "model", "world_size", "dtype", "kv_shape"])
def test_each_part_of_a_key_that_differs_is_named_with_both_values(part: str) -> None:
    change: dict[str, Any] = {part: ("x",) if part == "none_hashes" else "x"}
    found = differences({"gpu-a": A, "gpu-b": replace(A, **change)})
    assert len(found) == 1
    assert "gpu-a" in found[0]
    assert found[0].endswith("gpu-b x")


def printed(chunk: int = 256, serde: str = "naive", unfull: str = "False") -> Fingerprint:
    """A whole fingerprint with the configuration that an engine printed."""
    line = (
        f"(EngineCore pid=1) [2026-11-29 17:03:18,453] LMCache INFO: Creating LMCacheEngine with config: "
        f"{{'chunk_size': {chunk}, 'pd_allocation_timeout_sec': inf, 'remote_serde': '{serde}', "
        f"'extra_config': {{'valkey_num_workers': 8, 'chunk_size': 1}}, 'save_unfull_chunk': {unfull}}}"
    )
    return replace(A, config=read_fingerprint([line], ["0"]).config)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (printed(chunk=128), "chunk_size: gpu-a 256, gpu-b 128"),
        (printed(serde="cachegen"), "remote_serde: gpu-a naive, gpu-b cachegen"),
        (printed(unfull="True"), "save_unfull_chunk: gpu-a False, gpu-b True"),
        (A, "chunk_size: gpu-a 256, gpu-b not in the log"),
    ],
)
def test_a_setting_that_lmcache_took_differently_stops_the_fleet(other: Fingerprint, said: str) -> None:
    nodes = {"gpu-a": printed(), "gpu-b": other}
    wanted = {"gpu-a": "0", "gpu-b": "0"}
    found = fingerprint_findings(VALKEY, BOTH, wanted, nodes)
    assert (found[0].level, found[0].code) == (Level.BLOCKING, "fingerprint-differs")
    assert said in found[0].text
    assert "LMCACHE_" in found[0].remedy
    accepted = fingerprint_findings(VALKEY, BOTH, wanted, nodes, accepted=True)
    assert {one.level for one in accepted} == {Level.WARNING}


def test_equal_settings_are_no_news() -> None:
    nodes = {"gpu-a": printed(), "gpu-b": printed()}
    assert fingerprint_findings(VALKEY, BOTH, {"gpu-a": "0", "gpu-b": "0"}, nodes) == ()


@pytest.mark.parametrize("kind", [TierKind.DRAM, TierKind.VALKEY])
def test_equal_engines_give_no_finding(kind: TierKind) -> None:
    tier = Tier(name="tier", kind=kind, capacity_gib=1)
    wanted = {"gpu-a": "0", "gpu-b": "0"}
    assert fingerprint_findings(tier, BOTH, wanted, {"gpu-a": A, "gpu-b": A}) == ()


def test_engines_that_need_not_share_may_differ() -> None:
    other = replace(A, none_hashes=("1",))
    wanted = {"gpu-a": "0", "gpu-b": "0"}
    single = fingerprint_findings(VALKEY, (Topology.SINGLE,), wanted, {"gpu-a": A, "gpu-b": other})
    dram = Tier(name="dram", kind=TierKind.DRAM, capacity_gib=1)
    assert single == ()
    assert fingerprint_findings(dram, BOTH, wanted, {"gpu-a": A, "gpu-b": other}) == ()


def test_a_seed_that_did_not_reach_the_engine_stops_the_run() -> None:
    lost = replace(A, seeds=("0", "unset"))
    found = fingerprint_findings(VALKEY, BOTH, {"gpu-a": "0"}, {"gpu-a": lost})
    assert [(one.level, one.code, one.where) for one in found] == [
        (Level.BLOCKING, "hash-seed-lost", "gpu-a")
    ]


@pytest.mark.parametrize("seed", ["abc", "-1", "4294967296", "1.0", "٣", " 1"])
def test_seeds_with_which_python_does_not_start_are_refused(seed: str) -> None:
    with pytest.raises(ValueError, match="PYTHONHASHSEED"):
        check_seed(seed)


@pytest.mark.parametrize("seed", [None, "", "random", "0", "4294967295"])
def test_seeds_with_which_python_starts_pass(seed: str | None) -> None:
    assert check_seed(seed) == seed


def test_only_a_number_fixes_the_builtin_hash() -> None:
    assert is_fixed("random", "sha256_cbor")
    assert not is_fixed("random", "builtin")
    assert not is_fixed(None, "sha256_cbor")


def test_an_environment_that_cannot_be_read_is_no_missing_seed() -> None:
    found = fingerprint_findings(VALKEY, BOTH, {"gpu-a": "0"}, {"gpu-a": replace(A, seeds=())})
    assert [(one.level, one.code) for one in found] == [(Level.INFO, "hash-seed-unread")]
