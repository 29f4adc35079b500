"""Where SSH is to go, as a person writes it: an alias of the OpenSSH configuration, or ``user@host:port``."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

_PLACE = re.compile(
    r"(?:(?P<user>[^@\s]+)@)?(?:\[(?P<v6>[^\]\s]+)\]|(?P<host>[^\s:@\[\]]+))(?::(?P<port>[0-9]{1,5}))?"
)


@dataclass(frozen=True, slots=True)
class Place:
    """An address to log in at.

    Attributes:
        address: Alias, host name or IP address, without brackets.
        port: SSH port; None leaves it to the configuration.
        user: Whom to log in as; None leaves it to the configuration.
    """

    address: str
    port: int | None = None
    user: str | None = None


def parse_place(ssh: str) -> Place:
    """Read an alias or ``user@host:port``; an IPv6 address with a port stands in brackets.

    Raises:
        ValueError: It is neither; the message says what was given.
    """
    place = _bare_ipv6(ssh) or _written_out(ssh)
    if place is None or not ssh.isprintable():
        raise ValueError(f"{ssh!r} is neither an SSH alias nor user@host:port")
    return place


def _bare_ipv6(ssh: str) -> Place | None:
    user, _, address = ssh.rpartition("@")
    return Place(address, user=user or None) if _is_ipv6(address) and not re.search(r"[\s@]", user) else None


def _written_out(ssh: str) -> Place | None:
    match = _PLACE.fullmatch(ssh)
    if match is None or (match["v6"] and not _is_ipv6(match["v6"])):
        return None
    port = int(match["port"]) if match["port"] else None
    if port is not None and not 0 < port < 65536:
        return None
    return Place(match["v6"] or match["host"], port, match["user"])


def _is_ipv6(address: str) -> bool:
    try:
        ipaddress.IPv6Address(address)
    except ValueError:
        return False
    return True
