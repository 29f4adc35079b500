"""A store that cannot be asked: nothing there, or TLS alone."""

from __future__ import annotations

import asyncio

import pytest

from kvtui.services.stores import read_store
from kvtui.storefacts import StoreFacts
from remote.errors import StoreUnavailable
from remote.lab.valkey import free_port
from remote.link import Link

TLS_ALERT = bytes.fromhex("15030100020246")


async def test_a_server_that_answers_to_tls_alone(link: Link) -> None:
    async def alert(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(TLS_ALERT)
        writer.close()

    server = await asyncio.start_server(alert, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        found = await read_store(link, "127.0.0.1", port, clock=lambda: 1.0)
    assert found == StoreFacts(f"127.0.0.1:{port}", 1.0, tls="only")


async def test_nothing_there(link: Link) -> None:
    with pytest.raises(StoreUnavailable, match="No Valkey answers"):
        await read_store(link, "127.0.0.1", free_port())
