"""Turns what asyncssh and the operating system raise into a sentence about a node."""

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass

import asyncssh

from remote.errors import AuthFailed, HostKeyRefused, NodeUnreachable, RemoteError
from remote.hosts import HostSpec

REASONS = {
    errno.ECONNREFUSED: ("refuses SSH connections", "Is sshd running there, and is the port right?"),
    errno.EHOSTUNREACH: ("cannot be reached: no route to it", "Check the address, the network and the VPN."),
    errno.ENETUNREACH: ("cannot be reached: no network", "Check this machine's network and the VPN."),
    errno.ETIMEDOUT: ("did not answer", "Is it up, and does a firewall let this machine through?"),
}


@dataclass(frozen=True, slots=True)
class RefusedHostKey:
    """A host key that the known hosts do not vouch for, and those that they do.

    Attributes:
        presented: SHA-256 fingerprint of the key that the host showed.
        known: Fingerprints of the keys on file for this host; empty for a host that was never seen.
        files: Where the keys on file stand.
    """

    presented: str
    known: tuple[str, ...]
    files: str


def explain(error: BaseException, host: HostSpec, refused_key: RefusedHostKey | None = None) -> RemoteError:
    """The error for the person at the terminal."""
    if isinstance(error, asyncssh.HostKeyNotVerifiable):
        return _host_key(error, host, refused_key)
    if isinstance(error, asyncssh.PermissionDenied):
        whom = f" for user {host.username}" if host.username else ""
        return AuthFailed(
            f"{host.label} refuses every key{whom}.",
            f"Try `ssh {host.address}` and load the key with ssh-add, or install it with ssh-copy-id.",
        )
    if isinstance(error, asyncssh.KeyEncryptionError | asyncssh.KeyImportError):
        return AuthFailed(
            f"A private key for {host.label} cannot be read: {_reason(error)}.",
            "If it has a passphrase, load it with ssh-add first.",
        )
    if isinstance(error, asyncssh.ConfigParseError):
        return NodeUnreachable(
            f"The SSH configuration for {host.label} cannot be read: {_reason(error)}.", "Correct the file."
        )
    if isinstance(error, TimeoutError):
        return _unreachable(host, errno.ETIMEDOUT)
    if isinstance(error, socket.gaierror):
        return NodeUnreachable(
            f"{host.label}: the host name {host.address} is not known.",
            "Check its spelling, and DNS or the VPN.",
        )
    if isinstance(error, OSError):
        return _system(error, host)
    if isinstance(error, asyncssh.ChannelOpenError):
        return NodeUnreachable(
            f"{host.label} opens no further channel: {_reason(error)}.",
            "Is MaxSessions of its sshd lower than usual?",
        )
    if isinstance(error, asyncssh.KeyExchangeFailed):
        return NodeUnreachable(
            f"{host.label} and this machine share no SSH algorithm: {_reason(error)}.",
            "If its host key has changed kind, compare it with the one in known_hosts.",
        )
    return NodeUnreachable(
        f"The connection to {host.label} was lost: {_reason(error)}.", "Check the network, then try again."
    )


def _host_key(
    error: asyncssh.HostKeyNotVerifiable, host: HostSpec, refused: RefusedHostKey | None
) -> RemoteError:
    if refused is None:
        return HostKeyRefused(
            f"The host key of {host.label} cannot be trusted: {_reason(error)}.",
            f"Compare it with the node's own, then connect once with `ssh {host.address}`.",
        )
    if not refused.known:
        return HostKeyRefused(
            f"The host key of {host.label} is not known; it shows {refused.presented}.",
            f"If that is the node's own, connect once with `ssh {host.address}` to accept it.",
        )
    return HostKeyRefused(
        f"The host key of {host.label} has changed: it shows {refused.presented}, "
        f"{refused.files} has {' and '.join(refused.known)}.",
        "If the node was set up anew, remove the old key with ssh-keygen -R; otherwise do not connect.",
    )


def _system(error: OSError, host: HostSpec) -> RemoteError:
    # Several addresses that fail in different words come as one error without a number.
    number = error.errno or next((n for n in REASONS if f"[Errno {n}]" in str(error)), None)
    if number in REASONS:
        return _unreachable(host, number)
    if isinstance(error.filename, str):
        return NodeUnreachable(
            f"{host.label} cannot be reached: {error.filename}: {error.strerror}.",
            "Check the file names of its SSH settings.",
        )
    return NodeUnreachable(f"{host.label} cannot be reached: {_reason(error)}.", "Check the network.")


def _unreachable(host: HostSpec, number: int) -> NodeUnreachable:
    what, hint = REASONS[number]
    return NodeUnreachable(f"{host.label} {what}.", hint)


def _reason(error: BaseException) -> str:
    text = error.reason if isinstance(error, asyncssh.Error) else str(error)
    return text.strip().rstrip(".") or type(error).__name__
