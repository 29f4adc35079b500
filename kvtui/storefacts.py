"""What the Valkey server is, as it told itself. What it did not tell is ``None``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import TypeAdapter

Mode = Literal["standalone", "cluster", "sentinel"]
Tls = Literal["off", "offered", "only"]


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """One server at one time.

    Attributes:
        address: ``host:port`` as the node resolves it.
        role: ``master`` or ``slave``, in the server's own word.
        host_memory_bytes: Memory of the machine that it runs on.
        maxmemory_bytes: Its limit; 0 for none.
        policy: What it does when full, such as ``allkeys-lru``.
        rdb_saves: When it writes snapshots, ``3600 1 300 100``; empty for never.
        proto_max_bulk_bytes: The longest value that it takes.
        tls: ``only``: it answers to TLS alone, which leaves everything else unknown.
        auth: Whether it wants a password.
        user: The ACL user that kvtui is there.
        keys: Keys in the database that kvtui sees.
        expiring_keys: Those of them that will expire.
        sampled_keys: How many keys were looked at by name.
        lmcache_keys: Those of the sample that look like LMCache's.
        foreign_keys: Those that do not.
        evicted_keys: Keys that it threw out since its start.
        denied: Commands that its ACL or configuration refused to kvtui.
    """

    address: str
    read_wall_s: float
    version: str | None = None
    mode: Mode | None = None
    role: str | None = None
    used_memory_bytes: int | None = None
    host_memory_bytes: int | None = None
    maxmemory_bytes: int | None = None
    policy: str | None = None
    rdb_saves: str | None = None
    aof: bool | None = None
    proto_max_bulk_bytes: int | None = None
    io_threads: int | None = None
    tls: Tls | None = None
    auth: bool | None = None
    user: str | None = None
    keys: int | None = None
    expiring_keys: int | None = None
    sampled_keys: int | None = None
    lmcache_keys: int | None = None
    foreign_keys: int | None = None
    evicted_keys: int | None = None
    denied: tuple[str, ...] = ()

    @property
    def free_bytes(self) -> int | None:
        """What it may still take; ``None`` when unknown, or when only its machine limits it."""
        if not self.maxmemory_bytes or self.used_memory_bytes is None:
            return None
        return max(0, self.maxmemory_bytes - self.used_memory_bytes)

    def to_json(self) -> dict[str, Any]:
        """The facts as a JSON object."""
        found: dict[str, Any] = _ADAPTER.dump_python(self, mode="json")
        return found


_ADAPTER = TypeAdapter(StoreFacts)


def from_json(data: Mapping[str, Any]) -> StoreFacts:
    """The facts from their JSON object.

    Raises:
        ValueError: It is not one.
    """
    return _ADAPTER.validate_python(data)
