"""Which host is a node, and how it is reached."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HostSpec:
    """How to reach one node over SSH.

    Attributes:
        name: What the node is called in plans, tables and messages.
        address: Host name or IP address, or an alias of the OpenSSH configuration.
        port: SSH port; None leaves it to the configuration, then 22.
        username: Whom to log in as; None leaves it to the configuration, then the local user.
        client_keys: Private key files, and no other key; None means the user's own keys and agent.
        known_hosts: File of trusted host keys; None means the user's own. Host keys are always checked.
        config: OpenSSH configuration files; an empty tuple is the user's ``~/.ssh/config``, None is none.
    """

    name: str
    address: str
    port: int | None = None
    username: str | None = None
    client_keys: tuple[str, ...] | None = None
    known_hosts: str | None = None
    config: tuple[str, ...] | None = ()

    @classmethod
    def from_alias(cls, alias: str) -> HostSpec:
        """The host that ``ssh ALIAS`` would reach: everything as ``~/.ssh/config`` says."""
        return cls(name=alias, address=alias)

    @property
    def label(self) -> str:
        """The node in a sentence: its name, and its address where that says more."""
        if self.port is not None:
            address = f"[{self.address}]" if ":" in self.address else self.address
            return f"{self.name} ({address}:{self.port})"
        return self.name if self.address == self.name else f"{self.name} ({self.address})"
