"""What a store is, asked through a node."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict

from kvtui.store_reading import store_facts
from kvtui.storefacts import StoreFacts
from remote import store_facts as remote_store
from remote.link import Link


async def read_store(
    link: Link, address: str, port: int, password: str = "", clock: Callable[[], float] = time.time
) -> StoreFacts:
    """Ask the Valkey at ``address:port``, as the node of the link resolves it.

    Raises:
        StoreUnavailable: Nothing answers there, or it refuses the password.
        RemoteError: The node cannot be reached.
    """
    found = await remote_store.read_store(link, address, port, password)
    return store_facts(f"{address}:{port}", clock(), **asdict(found))
