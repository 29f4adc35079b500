"""What the Nodes screen asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from kvtui.ceilings import Ceiling
from kvtui.nodefacts import NodeFacts
from kvtui.plan import Plan
from kvtui.storefacts import StoreFacts

ROLES = ("gpu", "store")


@dataclass(frozen=True, slots=True)
class NodeEntry:
    """A node as it was entered.

    Attributes:
        name: Its name in plans.
        ssh: An alias of the OpenSSH configuration, or ``user@host:port``.
        roles: ``gpu``, ``store`` or both.
        engine_python: Interpreter of the engine's environment, or empty for the default.
        hourly_price: What an hour of it costs, where that is known.
        source: ``hosts`` is a person's own entry; ``lab`` and ``plan`` cannot be edited here.
    """

    name: str
    ssh: str
    roles: tuple[str, ...] = ("gpu",)
    engine_python: str = ""
    hourly_price: float | None = None
    source: Literal["hosts", "lab", "plan"] = "hosts"


@dataclass(frozen=True, slots=True)
class NodeDown:
    """Why a node could not be read.

    Attributes:
        state: One or two words for the table.
        text: What happened.
        remedy: What to do about it.
    """

    state: str
    text: str
    remedy: str = ""


class Nodes(Protocol):
    """The nodes that a person entered, and what can be learnt of them."""

    async def entries(self) -> tuple[NodeEntry, ...]:
        """All nodes: the person's own, the plan's, and the lab's while it is up."""

    async def save(self, entry: NodeEntry, old_name: str | None) -> None:
        """Add a node, or change the one of the old name.

        Raises:
            KvtuiError: A field is not allowed; the sentence names it.
        """

    async def remove(self, name: str) -> None:
        """Forget a node of one's own."""

    async def read(self, entry: NodeEntry) -> NodeFacts | NodeDown:
        """What the node is made of, read now; may ask for a host key or a passphrase."""

    async def read_store(self, entry: NodeEntry, plan: Plan | None) -> StoreFacts | NodeDown | None:
        """The store that the plan has on this node; ``None`` where it has none there."""

    async def measure(self, entry: NodeEntry, plan: Plan | None) -> tuple[Ceiling, ...]:
        """Measure what the node's disk, network and memory can do, and keep it."""

    def ceilings(self, name: str) -> tuple[Ceiling, ...]:
        """What was measured of a node before."""

    def shell(self, entry: NodeEntry) -> str:
        """The command that opens a shell on the node."""
