"""Opens SSH connections with every host key checked, through jump hosts where the configuration says so."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import asyncssh

from remote import private_keys
from remote import route as limits
from remote.asking import Asker
from remote.errors import NodeUnreachable
from remote.hosts import HostSpec
from remote.known_hosts import SSH_PORT, entry_name, fingerprint
from remote.route import Route, jump_host, route_to
from remote.ssh_errors import RefusedHostKey, explain, is_denied

CLOSE_TIMEOUT_S = 2
# What asyncssh and the operating system raise when a connection fails.
CONNECTION_ERRORS = (
    asyncssh.Error,
    asyncssh.KeyImportError,
    asyncssh.KeyEncryptionError,
    asyncssh.ConfigParseError,
    OSError,
    TimeoutError,
)


class _Client(asyncssh.SSHClient):
    """Remembers the host key that was refused, to name it."""

    def __init__(self) -> None:
        self.refused: tuple[str, str, int, asyncssh.SSHKey] | None = None

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        self.refused = (host, addr, port, key)
        return False


async def connect(host: HostSpec, asker: Asker | None = None) -> asyncssh.SSHClientConnection:
    """Open a connection.

    Args:
        host: Where to.
        asker: Asks a person about a new host key and for passphrases; without one, both are refused.

    Raises:
        RemoteError: A sentence for each way in which that can fail.
    """
    return await _connect(host, asker, (), None)


async def disconnect(connection: asyncssh.SSHClientConnection) -> None:
    """Close a connection; cut it where the other side does not answer."""
    connection.close()
    try:
        async with asyncio.timeout(CLOSE_TIMEOUT_S):
            await connection.wait_closed()
    except (TimeoutError, asyncssh.Error, OSError):
        connection.abort()


async def _connect(
    host: HostSpec,
    asker: Asker | None,
    passed: tuple[str, ...],
    via: asyncssh.SSHClientConnection | None,
) -> asyncssh.SSHClientConnection:
    """Connect through a jump host that is there already, or through those that the configuration names."""
    try:
        route = await _route(host)
        if via is None:
            for hop in _hops(host, route, passed):
                via = await _connect(hop, asker, (*passed, host.address), via)
        connection = await _Login(host, route, via, asker).open()
    except BaseException:
        if via is not None:
            await disconnect(via)
        raise
    # It is closed with the connection that it carries.
    connection.set_tunnel(via)
    return connection


async def _route(host: HostSpec) -> Route:
    try:
        return await asyncio.to_thread(route_to, host)
    except CONNECTION_ERRORS as error:
        raise explain(error, host) from error


def _hops(host: HostSpec, route: Route, passed: tuple[str, ...]) -> list[HostSpec]:
    hops = [jump_host(jump, host) for jump in route.jumps]
    if any(hop.address == host.address for hop in hops):
        # `Host *` with a ProxyJump holds for the jump host too, which needs none.
        return []
    for hop in hops:
        if hop.address in passed:
            raise NodeUnreachable(
                f"The ProxyJump of {host.label} leads back to {hop.address}.",
                "Correct it in the SSH configuration.",
            )
    return hops


@dataclass(frozen=True, slots=True)
class _Offer:
    """A host key that was offered and is not trusted."""

    host: str
    port: int
    key: asyncssh.SSHKey
    refused: RefusedHostKey


class _Login:
    """One connection in the making: tries again once a person has answered."""

    def __init__(
        self,
        host: HostSpec,
        route: Route,
        via: asyncssh.SSHClientConnection | None,
        asker: Asker | None,
    ) -> None:
        self._host = host
        self._route = route
        self._via = via
        self._asker = asker
        self._tried = frozenset(asker.unlocked) if asker else frozenset()
        self._left_out: list[str] = []

    async def open(self) -> asyncssh.SSHClientConnection:
        """Connect, asking where that helps."""
        accepted, keys = False, self._ready_keys()
        locked: Iterator[str] | None = None
        while True:
            client = _Client()
            try:
                return await self._attempt(client, keys, self._route.known_hosts.load())
            except (asyncssh.HostKeyNotVerifiable, asyncssh.KeyExchangeFailed) as error:
                offer = await self._offer(error, client)
                if offer is None or accepted or not await self._accepts(offer):
                    raise explain(error, self._host, offer.refused if offer else None) from error
                accepted = True
            except (asyncssh.PermissionDenied, asyncssh.ProtocolError) as error:
                if not is_denied(error):
                    raise explain(error, self._host) from error
                locked = iter(self._locked_keys()) if locked is None else locked
                unlocked = await self._unlock_next(locked)
                if unlocked is None:
                    raise explain(error, self._host, locked_keys=tuple(self._left_out)) from error
                keys = unlocked
            except asyncssh.ChannelOpenError as error:
                raise NodeUnreachable(
                    f"{self._host.label} cannot be reached from its jump host: {error.reason}.",
                    "Check the address, and that the jump host may forward ports.",
                ) from error
            except CONNECTION_ERRORS as error:
                raise explain(error, self._host) from error

    def _ready_keys(self) -> dict[str, Any]:
        """The keys that need no question: those without a passphrase, those unlocked before, the agent's."""
        route = self._route
        keys: dict[str, Any] = {
            "client_keys": [*private_keys.in_memory(self._asker, route.key_files), *route.key_files],
            "ignore_encrypted": True,
        }
        if route.only_these_keys:
            keys["agent_path"] = None
        elif route.agent_keys is not None:
            keys["agent_identities"] = list(route.agent_keys)
        return keys

    async def _attempt(
        self, client: _Client, keys: dict[str, Any], known: asyncssh.SSHKnownHosts
    ) -> asyncssh.SSHClientConnection:
        async with asyncio.timeout(limits.CONNECT_TIMEOUT_S + limits.LOGIN_TIMEOUT_S):
            return await asyncssh.connect(
                **self._route.settings,
                **keys,
                tunnel=self._via,
                client_factory=lambda: client,
                # Always: a configuration that switches the check off must not.
                known_hosts=known,
            )

    async def _offer(self, error: asyncssh.Error, client: _Client) -> _Offer | None:
        """The key that was not trusted; None where it is not known, or trust is not the question."""
        if isinstance(error, asyncssh.KeyExchangeFailed):
            # Perhaps the keys on file are of another kind than the host's: look at what it has.
            with contextlib.suppress(*CONNECTION_ERRORS):
                await self._attempt(client, {"client_keys": None}, asyncssh.import_known_hosts(""))
        if client.refused is None:
            return None
        host, address, port, key = client.refused
        if self._route.key_alias:
            address, port = "", SSH_PORT
        known = self._route.known_hosts.keys_of(host, address, port)
        entry = entry_name(host, port)
        return _Offer(host, port, key, RefusedHostKey(entry, fingerprint(key), known, self._route.strict))

    async def _accepts(self, offer: _Offer) -> bool:
        """Whether a person trusts a key that was never seen; a key that has changed is not asked about."""
        asker, known_hosts = self._asker, self._route.known_hosts
        on_file = [key for key in offer.refused.known if key.fingerprint == offer.refused.offered]
        if on_file and not any(key.revoked for key in on_file):
            # Another link has asked meanwhile.
            return True
        if asker is None or offer.refused.known or offer.refused.strict:
            return False

        async def ask() -> bool:
            if not await asker.host_key(self._host, offer.refused.offered):
                return False
            try:
                known_hosts.add(offer.host, offer.port, offer.key)
            except OSError as error:
                raise explain(error, self._host) from error
            return True

        return await asker.once(
            f"{offer.refused.entry} {offer.refused.offered}",
            lambda: bool(known_hosts.keys_of(offer.host, "", offer.port)),
            ask,
        )

    def _locked_keys(self) -> list[str]:
        """Files of keys that have a passphrase and were not tried."""
        in_memory = self._asker.unlocked if self._asker else {}
        self._left_out = [
            file for file in self._route.key_files if file not in in_memory and private_keys.is_locked(file)
        ]
        return list(self._left_out)

    async def _unlock_next(self, locked: Iterator[str]) -> dict[str, Any] | None:
        """The next of these keys for which a person gives the passphrase."""
        if self._asker is None:
            return None
        for file in locked:
            if await private_keys.unlock(self._asker, file):
                self._left_out.remove(file)
                return {"client_keys": private_keys.in_memory(self._asker, [file]), "agent_path": None}
        return None
