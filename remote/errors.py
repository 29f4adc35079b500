"""What can go wrong with a node, in words for the person at the terminal."""

from __future__ import annotations

from dataclasses import dataclass


class RemoteError(Exception):
    """A node could not do what was asked.

    Attributes:
        message: One sentence: what went wrong, and where.
        hint: What to do about it, or an empty string.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class NodeUnreachable(RemoteError):
    """No SSH connection: no route, refused, timed out, or lost."""


class AuthFailed(NodeUnreachable):
    """The node refused every key."""


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A host key on file.

    Attributes:
        fingerprint: Algorithm and SHA-256 fingerprint.
        file: The ``known_hosts`` file.
        line: Its line there, from 1.
        revoked: Whether it is there as one never to be trusted.
    """

    fingerprint: str
    file: str
    line: int
    revoked: bool = False


class HostKeyRefused(NodeUnreachable):
    """The node's host key is unknown or has changed.

    Attributes:
        offered: Algorithm and fingerprint of the key that it showed; empty where it was not seen.
        known: The keys on file for it; none for a host that was never seen, some for one that has changed.
    """

    def __init__(
        self, message: str, hint: str = "", offered: str = "", known: tuple[KnownKey, ...] = ()
    ) -> None:
        super().__init__(message, hint)
        self.offered = offered
        self.known = known


class NoPython(RemoteError):
    """The node has no usable ``python3``."""


class CommandTimeout(RemoteError):
    """A command on a node did not end in its time."""


class CommandFailed(RemoteError):
    """A command on a node ended with an error."""


class AgentError(RemoteError):
    """The node-side agent answered with an error.

    Attributes:
        code: The agent's error code, such as ``locked`` or ``survivors``.
        details: The rest of the agent's answer.
    """

    def __init__(
        self, code: str, message: str, details: dict[str, object] | None = None, hint: str = ""
    ) -> None:
        super().__init__(message, hint)
        self.code = code
        self.details: dict[str, object] = details or {}


class NodeBusy(RemoteError):
    """Another run holds the node."""


class EngineFailed(RemoteError):
    """An engine ended or never became able to serve.

    Attributes:
        log_lines: The lines of its log that show the cause.
    """

    def __init__(self, message: str, hint: str = "", log_lines: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint)
        self.log_lines = log_lines


class StoreUnavailable(RemoteError):
    """The Valkey server does not answer, or refuses."""


class LabError(RemoteError):
    """The lab on this machine cannot start."""
