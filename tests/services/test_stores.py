"""A store that cannot be asked: nothing there, or TLS alone."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from kvtui.services.stores import read_store
from kvtui.storefacts import StoreFacts
from remote.errors import StoreUnavailable
from remote.lab.valkey import free_port
from remote.link import Link


@pytest.fixture
def certificate(tmp_path: Path) -> ssl.SSLContext:
    """A TLS server's side, with a certificate that nobody vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "store")])
    day = datetime.timedelta(days=1)
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder(
            name, name, key.public_key(), x509.random_serial_number(), now - day, now + day
        )
    ).sign(key, hashes.SHA256())
    path = tmp_path / "store.pem"
    path.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        + signed.public_bytes(Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


async def test_a_server_that_answers_to_tls_alone(link: Link, certificate: ssl.SSLContext) -> None:
    over = asyncio.Event()

    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            await reader.read()
        writer.transport.abort()
        over.set()

    server = await asyncio.start_server(never, "127.0.0.1", 0, ssl=certificate)
    port = server.sockets[0].getsockname()[1]
    async with server:
        found = await read_store(link, "127.0.0.1", port, clock=lambda: 1.0)
        async with asyncio.timeout(20):
            await over.wait()
    assert found == StoreFacts(f"127.0.0.1:{port}", 1.0, tls="only")


async def test_a_server_that_hangs_up_is_no_store(link: Link) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server:
        with pytest.raises(StoreUnavailable, match="No Valkey answers"):
            await read_store(link, "127.0.0.1", server.sockets[0].getsockname()[1])


async def test_nothing_there(link: Link) -> None:
    with pytest.raises(StoreUnavailable, match="No Valkey answers"):
        await read_store(link, "127.0.0.1", free_port())
