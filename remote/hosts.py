"""How to reach a node over SSH."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HostSpec:
    """Everything that an SSH connection to one node needs."""

    name: str
    """What people call the node."""
    address: str
    port: int
    username: str
    client_keys: tuple[str, ...] | None
    """Private key files; None leaves the choice to the agent and the OpenSSH configuration."""
    known_hosts: str | None
    """File of known host keys; None means the user's own ``~/.ssh/known_hosts``, never no check."""
    config: tuple[str, ...] | None
    """OpenSSH configuration files; None means that none is read."""

    @classmethod
    def from_alias(cls, alias: str) -> HostSpec:
        """Take what ``~/.ssh/config`` says about a host alias."""
        raise NotImplementedError
