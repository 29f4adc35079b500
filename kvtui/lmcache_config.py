"""LMCache's configuration file for one tier alone, written and read back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

from kvtui.errors import PlanError
from kvtui.plan import Hash, Tier, TierKind

# LMCache 0.5.4 maps the older name to this one, and warns about it.
ALGORITHM_NAMES = {"sha256_cbor_64bit": "sha256_cbor"}


@dataclass(frozen=True, slots=True)
class Placement:
    """What the configuration needs to know of the node.

    Attributes:
        internal_port: First of the ports of LMCache's internal API; a worker takes the next.
        disk_dir: The disk tier's own folder, absolute; empty for other tiers.
        store_address: Host and port of the store as the engine reaches it; empty for other tiers.
        staging_gib: LMCache's DRAM buffer, in GiB.
        store_password: Password of the store, or empty.
    """

    internal_port: int
    disk_dir: str
    store_address: str
    staging_gib: float
    store_password: str = ""


def config_for(tier: Tier, hashing: Hash, placement: Placement) -> dict[str, Any]:
    """The keys of LMCache's configuration (LMCache 0.5.4 ``v1/config.py``).

    The whole request's read has one time limit, so that of 10 s becomes 60: a slow store is then seen as
    slow, not as a miss. The internal API runs code without asking who calls, so it listens on loopback only.
    """
    config: dict[str, Any] = {
        "chunk_size": hashing.chunk_tokens,
        "local_cpu": tier.kind is TierKind.DRAM,
        "max_local_cpu_size": placement.staging_gib,
        "pre_caching_hash_algorithm": ALGORITHM_NAMES.get(hashing.algorithm, hashing.algorithm),
        "save_unfull_chunk": False,
        "blocking_timeout_secs": 60,
        "internal_api_server_enabled": True,
        "internal_api_server_host": "127.0.0.1",
        "internal_api_server_port_start": placement.internal_port,
    }
    if tier.kind in (TierKind.DRAM, TierKind.DISK):
        config["cache_policy"] = str(tier.policy)
    if tier.kind is TierKind.DISK:
        config["local_disk"] = placement.disk_dir
        config["max_local_disk_size"] = tier.capacity_gib
    if tier.kind is TierKind.VALKEY:
        config["remote_url"] = f"valkey://{placement.store_address}"
        config["remote_serde"] = "naive"
        config["extra_config"] = {"valkey_num_workers": tier.workers}
        if placement.store_password:
            # LMCache 0.5.4 and 0.5.6 hand the two to glide in the wrong order (v1/storage_backend/valkey/
            # worker_pool.py), so a lone password goes where the user name belongs.
            config["extra_config"] |= {"valkey_username": placement.store_password, "valkey_password": ""}
    return config


def to_yaml(config: dict[str, Any]) -> str:
    """The configuration as YAML, proved by reading it back.

    Raises:
        PlanError: A value does not survive the way through YAML.
    """
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    if yaml.safe_load(text) != config:
        raise PlanError("LMCache's configuration does not read back as it was written.", text)
    return text
