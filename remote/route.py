"""What the OpenSSH configuration says of the way to a host."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import asyncssh

from remote import private_keys
from remote.errors import NodeUnreachable
from remote.hosts import HostSpec
from remote.known_hosts import GLOBAL_FILE, KnownHosts
from remote.strict_keys import refuses_unknown

CONNECT_TIMEOUT_S = 10
LOGIN_TIMEOUT_S = 20
KEEPALIVE_S = 5
KEEPALIVE_COUNT = 3


@dataclass(frozen=True, slots=True)
class Route:
    """The way to a host.

    Attributes:
        settings: What asyncssh is told, keys aside.
        known_hosts: Where its host key is looked up.
        key_alias: Whether it is looked up under a name of its own, which has no port.
        strict: Whether a key that is not known is refused without a question.
        jumps: Hosts to go through, the first one first.
        key_files: Private keys to try.
        only_these_keys: Whether the agent is left out.
        agent_keys: Public key files of the agent's keys that may be used; None means all.
    """

    settings: dict[str, Any]
    known_hosts: KnownHosts
    key_alias: bool
    strict: bool
    jumps: tuple[str, ...]
    key_files: tuple[str, ...]
    only_these_keys: bool
    agent_keys: tuple[str, ...] | None


def route_to(host: HostSpec) -> Route:
    """Read the configuration for a host.

    Raises:
        asyncssh.ConfigParseError: It cannot be read.
    """
    settings = _settings(host)
    # Without keys, which are chosen here.
    options = asyncssh.SSHClientConnectionOptions(**settings, client_keys=None)
    only = bool(options.config.get("IdentitiesOnly"))
    keys, agent_keys = host.client_keys, None
    if keys is None:
        named = cast("list[str]", options.config.get("IdentityFile", []))
        # OpenSSH passes over the ones that do not exist.
        keys = tuple(name for name in named if _exists(name)) if named else private_keys.default_files()
        agent_keys = tuple(public for key in keys for public in (f"{key}.pub",) if _exists(public))
    return Route(
        settings=settings,
        known_hosts=KnownHosts(_known_hosts(host, options)),
        key_alias=bool(options.host_key_alias),
        strict=refuses_unknown(host),
        jumps=_jumps(options.tunnel),
        key_files=keys,
        only_these_keys=host.client_keys is not None or (only and not agent_keys),
        agent_keys=agent_keys if only else None,
    )


def jump_host(jump: str, to: HostSpec) -> HostSpec:
    """The host that one part of a ProxyJump means: ``[user@]host[:port]``, or that as an ``ssh://`` address.

    Raises:
        NodeUnreachable: Its port is no number.
    """
    user, _, place = jump.strip().removeprefix("ssh://").rstrip("/").rpartition("@")
    if place.startswith("["):
        address, _, port = place[1:].partition("]")
        port = port.removeprefix(":")
    else:
        address, _, port = place.partition(":")
    if not address or (port and not port.isdecimal()):
        raise NodeUnreachable(
            f"The ProxyJump of {to.label} cannot be read: {jump}.", "Correct it in the SSH configuration."
        )
    return dataclasses.replace(
        to,
        name=f"jump host {address} of {to.name}",
        address=address,
        port=int(port) if port else None,
        username=user or None,
        client_keys=None,
    )


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
    return settings


def _known_hosts(host: HostSpec, options: asyncssh.SSHClientConnectionOptions) -> tuple[str, ...]:
    # A configuration that names none, or switches the check off, means OpenSSH's own files.
    named = [host.known_hosts] if host.known_hosts is not None else cast("list[str]", options.known_hosts)
    return tuple(str(Path(name).expanduser()) for name in named or ("~/.ssh/known_hosts", GLOBAL_FILE))


def _jumps(tunnel: object) -> tuple[str, ...]:
    if not isinstance(tunnel, str) or tunnel.lower() == "none":
        return ()
    return tuple(tunnel.split(","))


def _exists(name: str) -> bool:
    return Path(name).expanduser().exists()
