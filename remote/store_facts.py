"""Everything that a Valkey server tells of itself, refusals included."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Protocol

from remote.link import Link
from remote.store import Store, open_store, parse_info

SAMPLE = 10_000
PROBE_LIMIT_S = 5.0
SETTINGS = ("save", "appendonly", "proto-max-bulk-len", "io-threads", "tls-port")
_SCAN_COUNT = "1000"


class _Ask(Protocol):
    def __call__(self, name: str, *more: str) -> Awaitable[object]: ...


@dataclass(frozen=True, slots=True)
class StoreReading:
    """The answers, as they came.

    Attributes:
        tls_only: It answers to TLS alone; nothing else could be asked.
        auth: Whether it answers only with a password; ``None`` when unknown.
        info: The fields of INFO.
        config: Those of ``SETTINGS`` that it told.
        user: The ACL user.
        keys: Number of keys.
        sample: Names of keys, at most ``SAMPLE``; ``None`` where they may not be listed.
        denied: The commands that were refused.
    """

    tls_only: bool = False
    auth: bool | None = None
    info: Mapping[str, str] | None = None
    config: Mapping[str, str] | None = None
    user: str | None = None
    keys: int | None = None
    sample: tuple[str, ...] | None = None
    denied: tuple[str, ...] = ()


async def read_store(link: Link, address: str, port: int, password: str = "") -> StoreReading:
    """Ask the Valkey at ``address:port``, as a node resolves it, through a link to that node.

    Raises:
        StoreUnavailable: Nothing answers there, or not as Valkey does.
        NodeUnreachable: The node cannot be reached.
    """
    first = await _first_answer(link, address, port)
    if not first and await _speaks_tls(link, address, port):
        return StoreReading(tls_only=True)
    auth = True if first.startswith(b"-NOAUTH") else False if first.startswith(b"+PONG") else None
    async with open_store(link, address, port, password) as store:
        return await _ask(store, auth)


async def _first_answer(link: Link, address: str, port: int) -> bytes:
    """What it says to somebody without a password; nothing where it does not answer."""
    async with link.forward(address, port) as local_port:
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(PROBE_LIMIT_S):
                reader, writer = await asyncio.open_connection("127.0.0.1", local_port)
                try:
                    writer.write(b"PING\r\n")
                    return await reader.read(100)
                finally:
                    await _closed(writer)
    return b""


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


async def _speaks_tls(link: Link, address: str, port: int) -> bool:
    """Whether it takes part in a TLS handshake, whosever certificate it shows; nothing is said within."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    async with link.forward(address, port) as local_port:
        try:
            async with asyncio.timeout(PROBE_LIMIT_S):
                _, writer = await asyncio.open_connection("127.0.0.1", local_port, ssl=context)
        except ssl.SSLError as error:
            # Such as a server that wants a certificate of the client's.
            return "ALERT" in (error.reason or "")
        except (OSError, TimeoutError):
            return False
        await _closed(writer)
    return True


async def _ask(store: Store, auth: bool | None) -> StoreReading:
    denied = []

    async def ask(name: str, *more: str) -> object:
        answer = await store.ask(*name.split(), *more)
        if answer is None:
            denied.append(name)
        return answer

    info = await ask("INFO", "all")
    config: dict[str, str] = {}
    for name in SETTINGS:
        if "CONFIG GET" not in denied:
            config |= _pairs(await ask("CONFIG GET", name))
    user = await ask("ACL WHOAMI")
    keys = await ask("DBSIZE")
    return StoreReading(
        auth=auth,
        info=parse_info(_text(info)) if info is not None else None,
        config=config,
        user=_text(user) if user is not None else None,
        keys=keys if isinstance(keys, int) else None,
        sample=await _sample(ask),
        denied=tuple(denied),
    )


async def _sample(ask: _Ask) -> tuple[str, ...] | None:
    cursor, found = "0", dict[str, None]()
    while len(found) < SAMPLE:
        answer = await ask("SCAN", cursor, "COUNT", _SCAN_COUNT)
        if not isinstance(answer, list) or len(answer) != 2:
            return None
        cursor = _text(answer[0])
        found.update(dict.fromkeys(_text(key) for key in answer[1]))
        if cursor == "0":
            break
    return tuple(found)[:SAMPLE]


def _pairs(answer: object) -> dict[str, str]:
    if isinstance(answer, dict):
        return {_text(name): _text(value) for name, value in answer.items()}
    return {}


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
