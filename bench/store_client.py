"""A client of the lab's store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from glide_sync import GlideClient, GlideClientConfiguration, NodeAddress

from remote.lab.info import LabInfo

_LIMIT_MS = 10_000


@contextmanager
def store_client(lab: LabInfo) -> Iterator[GlideClient]:
    """A client, as long as the context."""
    address = NodeAddress(lab.store.host, lab.store.port)
    client = GlideClient.create(GlideClientConfiguration([address], request_timeout=_LIMIT_MS))
    try:
        yield client
    finally:
        client.close()


def keys(client: GlideClient, ending: str) -> set[bytes]:
    """The keys of a store that end so."""
    cursor, found = b"0", set[bytes]()
    while True:
        cursor, batch = client.scan(cursor, match=f"*{ending}", count=1000)  # type: ignore[assignment]
        found |= set(batch)  # type: ignore[arg-type]
        if cursor == b"0":
            return found


def used_memory_bytes(client: GlideClient) -> int:
    """Memory that the store says it uses."""
    text = str(client.custom_command(["INFO", "memory"]), "utf-8", "replace")  # type: ignore[arg-type]
    return int(text.split("used_memory:")[1].split()[0])
