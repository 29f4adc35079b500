"""Opens SSH connections with every host key checked."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import asyncssh

from remote.hosts import HostSpec
from remote.ssh_errors import RefusedHostKey, explain

CONNECT_TIMEOUT_S = 10
LOGIN_TIMEOUT_S = 20
KEEPALIVE_S = 5
KEEPALIVE_COUNT = 3
CLOSE_TIMEOUT_S = 2
# What asyncssh and the operating system raise when a connection fails.
CONNECTION_ERRORS = (
    asyncssh.Error,
    asyncssh.KeyImportError,
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


async def connect(host: HostSpec) -> asyncssh.SSHClientConnection:
    """Open a connection.

    Raises:
        RemoteError: A sentence for each way in which that can fail.
    """
    client = _Client()
    files: Any = []
    try:
        options = asyncssh.SSHClientConnectionOptions(**_settings(host))
        files = _existing(options.known_hosts or [])
        async with asyncio.timeout(CONNECT_TIMEOUT_S + LOGIN_TIMEOUT_S):
            return await asyncssh.connect(
                host.address,
                options=options,
                client_factory=lambda: client,
                # Again and last: a configuration that switches the check off must not.
                known_hosts=files,
            )
    except CONNECTION_ERRORS as error:
        raise explain(error, host, _refused(client, files)) from error


async def disconnect(connection: asyncssh.SSHClientConnection) -> None:
    """Close a connection; cut it where the other side does not answer."""
    connection.close()
    try:
        async with asyncio.timeout(CLOSE_TIMEOUT_S):
            await connection.wait_closed()
    except (TimeoutError, asyncssh.Error, OSError):
        connection.abort()


def _settings(host: HostSpec) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "host": host.address,
        "connect_timeout": CONNECT_TIMEOUT_S,
        "login_timeout": LOGIN_TIMEOUT_S,
        "keepalive_interval": KEEPALIVE_S,
        "keepalive_count_max": KEEPALIVE_COUNT,
        "config": None if host.config is None else list(host.config) or (),
    }
    if host.port is not None:
        settings["port"] = host.port
    if host.username is not None:
        settings["username"] = host.username
    if host.known_hosts is not None:
        settings["known_hosts"] = host.known_hosts
    if host.client_keys is not None:
        settings["client_keys"] = list(host.client_keys)
        settings["agent_path"] = None
    return settings


def _existing(files: Any) -> Any:
    """Of the files that a configuration names, those that exist: OpenSSH passes over the others as well."""
    if isinstance(files, list):
        return [name for name in files if Path(name).expanduser().exists()]
    return files


def _refused(client: _Client, files: Any) -> RefusedHostKey | None:
    if client.refused is None:
        return None
    host, addr, port, key = client.refused
    names: Any = files or str(Path("~/.ssh/known_hosts").expanduser())
    try:
        known = asyncssh.match_known_hosts(names, host, addr, port if port != 22 else None)[0]
    except (OSError, ValueError):
        known = ()
    shown = names if isinstance(names, str) else ", ".join(str(name) for name in names)
    return RefusedHostKey(_fingerprint(key), tuple(_fingerprint(k) for k in known), shown)


def _fingerprint(key: asyncssh.SSHKey) -> str:
    return f"{key.get_algorithm()} {key.get_fingerprint()}"
