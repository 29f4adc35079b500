"""Turns what asyncssh and the operating system raise into a sentence about a node."""

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass

import asyncssh

from remote.errors import AuthFailed, HostKeyRefused, KnownKey, NodeUnreachable, RemoteError
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
        entry: How the host is called in ``known_hosts``.
        offered: SHA-256 fingerprint of the key that the host showed.
        known: The keys on file for this host; empty for a host that was never seen.
        strict: Whether the SSH configuration wants unknown keys refused without a question.
    """

    entry: str
    offered: str
    known: tuple[KnownKey, ...]
    strict: bool = False


def is_denied(error: BaseException) -> bool:
    """Whether a host refused the keys, all of them or so many that it heard no more."""
    return isinstance(error, asyncssh.PermissionDenied) or _too_many_keys(error)


def _too_many_keys(error: BaseException) -> bool:
    # OpenSSH's sshd ends the connection after MaxAuthTries, 6 by default.
    return isinstance(error, asyncssh.ProtocolError) and "authentication failures" in error.reason


def explain(
    error: BaseException,
    host: HostSpec,
    refused_key: RefusedHostKey | None = None,
    locked_keys: tuple[str, ...] = (),
) -> RemoteError:
    """The error for the person at the terminal.

    Args:
        error: What was raised.
        host: The node.
        refused_key: The host key that was not trusted.
        locked_keys: Private key files that were left out because their passphrase is not known.
    """
    if refused_key is not None:
        return _host_key(host, refused_key)
    if isinstance(error, asyncssh.HostKeyNotVerifiable):
        return HostKeyRefused(
            f"The host key of {host.label} cannot be trusted: {_reason(error)}.",
            f"Compare it with the node's own, then connect once with `ssh {host.address}`.",
        )
    if is_denied(error):
        whom = f" for user {host.username}" if host.username else ""
        if locked_keys:
            return AuthFailed(
                f"{host.label} refuses every key{whom}; {', '.join(locked_keys)} was left out, "
                "since it has a passphrase.",
                f"Load it first: ssh-add {locked_keys[0]}",
            )
        if _too_many_keys(error):
            return AuthFailed(
                f"{host.label} refuses so many keys{whom} that it takes no more.",
                "Name the right one: IdentityFile and IdentitiesOnly in ~/.ssh/config, or identity_file in "
                "hosts.toml.",
            )
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


def _host_key(host: HostSpec, refused: RefusedHostKey) -> HostKeyRefused:
    if not refused.known and refused.strict:
        return HostKeyRefused(
            f"The host key of {host.label} is not known, and the SSH configuration refuses such keys "
            f"(StrictHostKeyChecking yes); it shows {refused.offered}.",
            "If that is the node's own, add it to known_hosts, or have it asked: StrictHostKeyChecking ask.",
            refused.offered,
        )
    if not refused.known:
        return HostKeyRefused(
            f"The host key of {host.label} is not known; it shows {refused.offered}.",
            f"If that is the node's own, connect once with `ssh {host.address}` to accept it.",
            refused.offered,
        )
    for key in refused.known:
        if key.revoked and key.fingerprint == refused.offered:
            return HostKeyRefused(
                f"The host key of {host.label} is revoked by {key.file}:{key.line}: {key.fingerprint}.",
                "Give the node a new host key; do not connect.",
                refused.offered,
                refused.known,
            )
    on_file = " and ".join(f"{key.file}:{key.line} has {key.fingerprint}" for key in refused.known)
    return HostKeyRefused(
        f"The host key of {host.label} has changed: it shows {refused.offered}, {on_file}.",
        f"If the node was set up anew, remove the old key with: ssh-keygen -f {refused.known[0].file} "
        f"-R '{refused.entry}'; otherwise do not connect.",
        refused.offered,
        refused.known,
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
