"""Makes a store's facts of what the server answered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kvtui.loglines import clean
from kvtui.storefacts import Mode, StoreFacts, Tls

# ``model@world_size@worker_id@chunk_hash@dtype``, then tags (LMCache 0.5.4 ``utils.py``, CacheEngineKey);
# a ``redis://`` connector adds ``kv_bytes`` or ``metadata``.
_LMCACHE_KEY = re.compile(r".+@\d+@\d+@-?[0-9a-f]+@\w+(@.*)?", re.DOTALL)
_KEYSPACE = re.compile(r"keys=(\d+),expires=(\d+)")
_MODES: tuple[Mode, ...] = ("standalone", "cluster", "sentinel")


def looks_like_lmcache(key: str) -> bool:
    """Whether a key is one that LMCache makes."""
    return _LMCACHE_KEY.fullmatch(key) is not None


def store_facts(
    address: str,
    read_wall_s: float,
    *,
    tls_only: bool = False,
    auth: bool | None = None,
    info: Mapping[str, str] | None = None,
    config: Mapping[str, str] | None = None,
    user: str | None = None,
    keys: int | None = None,
    sample: Iterable[str] | None = None,
    denied: tuple[str, ...] = (),
) -> StoreFacts:
    """The facts of a store.

    Args:
        address: ``host:port``.
        read_wall_s: When it was asked.
        tls_only: It answers to TLS alone.
        auth: Whether it wants a password.
        info: The fields of INFO.
        config: Settings by name.
        user: The ACL user.
        keys: Number of keys.
        sample: Names of keys.
        denied: Commands that it refused.
    """
    info, config = info or {}, config or {}
    ours = None if sample is None else [looks_like_lmcache(key) for key in sample]
    mode = info.get("server_mode", info.get("redis_mode"))
    return StoreFacts(
        address=address,
        read_wall_s=read_wall_s,
        version=_plain(info.get("valkey_version", info.get("redis_version"))),
        mode=next((known for known in _MODES if known == mode), None),
        role=_plain(info.get("role")),
        used_memory_bytes=_whole(info.get("used_memory")),
        host_memory_bytes=_whole(info.get("total_system_memory")) or None,
        maxmemory_bytes=_whole(info.get("maxmemory")),
        policy=_plain(info.get("maxmemory_policy")),
        rdb_saves=_plain(config.get("save")),
        aof=_truth(config.get("appendonly"), info.get("aof_enabled")),
        proto_max_bulk_bytes=_whole(config.get("proto-max-bulk-len")),
        io_threads=_whole(config.get("io-threads")),
        tls="only" if tls_only else _tls(config.get("tls-port")),
        auth=auth,
        user=_plain(user),
        keys=keys,
        expiring_keys=_expiring(info, keys),
        sampled_keys=None if ours is None else len(ours),
        lmcache_keys=None if ours is None else sum(ours),
        foreign_keys=None if ours is None else len(ours) - sum(ours),
        evicted_keys=_whole(info.get("evicted_keys")),
        denied=denied,
    )


def _expiring(info: Mapping[str, str], keys: int | None) -> int | None:
    found = _KEYSPACE.match(info.get("db0", ""))
    if found:
        return int(found[2])
    # An empty database has no line of its own.
    return 0 if info and keys == 0 else None


def _tls(port: str | None) -> Tls | None:
    number = _whole(port)
    return None if number is None else "offered" if number else "off"


def _truth(setting: str | None, flag: str | None) -> bool | None:
    return {"yes": True, "no": False, "1": True, "0": False}.get(setting or flag or "")


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdecimal() else None


def _plain(text: str | None) -> str | None:
    return None if text is None else " ".join(clean(text).split())[:300]
