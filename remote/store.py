"""The Valkey server: what it says of itself, and the keys of one run in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from remote.errors import StoreUnavailable
from remote.link import Link

if TYPE_CHECKING:
    from glide_sync import GlideClient

T = TypeVar("T")
_TIMEOUT_MS = 5000
_SCAN_COUNT = 1000


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What the server says of itself.

    Attributes:
        version: Server version.
        used_memory_bytes: Memory in use.
        maxmemory_bytes: Its limit; 0 for none.
        policy: What it does when full.
        keys: Keys in the database.
        evicted_keys: Keys that it has dropped for want of memory since its start, as all counts below.
        net_in_bytes: Bytes that came in.
        net_out_bytes: Bytes that went out.
        get_calls: Calls of GET.
        set_calls: Calls of SET.
        run_id: What its server calls this start of itself; empty when it does not say.
    """

    version: str
    used_memory_bytes: int
    maxmemory_bytes: int
    policy: str
    keys: int
    evicted_keys: int
    net_in_bytes: int
    net_out_bytes: int
    get_calls: int
    set_calls: int
    run_id: str


def _refusal(error: BaseException) -> str:
    """What a failed connection means; glide's own words name a forwarded port that nobody knows."""
    wants_password = any(word in str(error) for word in ("NOAUTH", "WRONGPASS", "AuthenticationFailed"))
    return "Valkey refuses the password" if wants_password else "No Valkey answers"


def _first_sentence(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].strip().rstrip(".:") if lines else "timed out"


def parse_info(text: str) -> dict[str, str]:
    """The fields of INFO's answer."""
    pairs = (line.split(":", 1) for line in text.splitlines() if ":" in line and not line.startswith("#"))
    return {name: value.strip() for name, value in pairs}


def store_info(fields: Mapping[str, str]) -> StoreInfo:
    """What the fields of INFO say (Valkey 7.2 to 9.1); what it leaves out has not happened yet."""
    return StoreInfo(
        version=fields.get("valkey_version", fields.get("redis_version", "unknown")),
        used_memory_bytes=int(fields.get("used_memory", 0)),
        maxmemory_bytes=int(fields.get("maxmemory", 0)),
        policy=fields.get("maxmemory_policy", "unknown"),
        keys=_part(fields.get("db0", ""), "keys"),
        evicted_keys=int(fields.get("evicted_keys", 0)),
        net_in_bytes=int(fields.get("total_net_input_bytes", 0)),
        net_out_bytes=int(fields.get("total_net_output_bytes", 0)),
        get_calls=_part(fields.get("cmdstat_get", ""), "calls"),
        set_calls=_part(fields.get("cmdstat_set", ""), "calls"),
        run_id=fields.get("run_id", ""),
    )


def _part(value: str, name: str) -> int:
    fields = dict(part.split("=", 1) for part in value.split(",") if "=" in part)
    return int(fields.get(name, 0))


class Store:
    """A client of the server; its blocking calls run in a worker thread."""

    def __init__(self, client: GlideClient, where: str) -> None:
        self._client = client
        self._where = where

    async def _call(self, work: Callable[[], T]) -> T:
        from glide_sync import GlideError

        try:
            async with asyncio.timeout(_TIMEOUT_MS / 1000 * 6):
                return await asyncio.to_thread(work)
        except (GlideError, TimeoutError, OSError) as error:
            raise StoreUnavailable(
                f"Valkey at {self._where} does not answer: {_first_sentence(error)}.",
                "Start it, or mend address and port below [store].",
            ) from error

    async def info(self) -> StoreInfo:
        """What the server says of itself.

        Raises:
            StoreUnavailable: It does not answer.
        """
        from glide_sync import InfoSection

        sections = [
            InfoSection.SERVER,
            InfoSection.MEMORY,
            InfoSection.STATS,
            InfoSection.KEYSPACE,
            InfoSection.COMMAND_STATS,
        ]
        raw = await self._call(lambda: self._client.info(sections))
        return store_info(parse_info(raw.decode(errors="replace")))

    async def ask(self, *words: str) -> object:
        """A command's answer; ``None`` when the server refuses this user the command, or does not know it.

        Raises:
            StoreUnavailable: It does not answer.
        """
        from glide_sync import RequestError

        def work() -> object:
            try:
                return self._client.custom_command(list(words))
            except RequestError as error:
                # Its descendants are time-outs and lost connections.
                if type(error) is not RequestError:
                    raise
                return None

        return await self._call(work)

    def _scan(self, ending: str, each: Callable[[list[bytes]], None]) -> None:
        cursor = b"0"
        while True:
            answer = self._client.scan(cursor, match=f"*{ending}", count=_SCAN_COUNT)
            cursor, keys = cast(tuple[bytes, list[bytes]], tuple(answer))
            if keys:
                each(keys)
            if cursor == b"0":
                return

    async def count_keys(self, ending: str) -> int:
        """Number of keys that end in ``ending``, a glob as in SCAN's MATCH.

        Raises:
            StoreUnavailable: It does not answer.
        """
        found: set[bytes] = set()
        await self._call(lambda: self._scan(ending, found.update))
        return len(found)

    async def remove_keys(self, ending: str) -> int:
        """Remove the keys that end in ``ending``, a glob, and no others; how many there were.

        Raises:
            ValueError: ``ending`` is empty.
            StoreUnavailable: It does not answer.
        """
        if not ending:
            raise ValueError("an empty ending would remove every key")
        removed = 0

        def unlink(keys: list[bytes]) -> None:
            nonlocal removed
            removed += self._client.unlink([*keys])

        await self._call(lambda: self._scan(ending, unlink))
        return removed

    async def close(self) -> None:
        """Close the connection."""
        await asyncio.to_thread(self._client.close)


@asynccontextmanager
async def open_store(link: Link, address: str, port: int, password: str = "") -> AsyncIterator[Store]:
    """A client of the Valkey at ``address:port``, through an SSH link to its node.

    Args:
        link: The link to its node.
        address: Its host, as that node resolves it.
        port: Its port.
        password: Its password, or empty for none.

    Raises:
        StoreUnavailable: Nothing answers there, or not as Valkey does.
    """
    from glide_sync import (
        GlideClient,
        GlideClientConfiguration,
        GlideError,
        Logger,
        LogLevel,
        NodeAddress,
        ServerCredentials,
    )

    # Its native part writes warnings to standard output, where results belong.
    Logger.set_logger_config(LogLevel.OFF)

    where = f"{address}:{port} on {link.name}"
    async with link.forward(address, port) as local_port:
        config = GlideClientConfiguration(
            [NodeAddress("127.0.0.1", local_port)],
            credentials=ServerCredentials(password) if password else None,
            request_timeout=_TIMEOUT_MS,
        )
        try:
            client = await asyncio.to_thread(GlideClient.create, config)
        except GlideError as error:
            raise StoreUnavailable(
                f"{_refusal(error)} at {where}.",
                "Start it, or mend address, port and password_env below [store].",
            ) from error
        store = Store(client, where)
        try:
            yield store
        finally:
            await store.close()
