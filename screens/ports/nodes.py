"""What the Nodes screen asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from kvtui.ceilings import Ceiling
from kvtui.hosts_file import NodeEntry
from kvtui.nodefacts import NodeFacts
from kvtui.plan import Plan
from kvtui.storefacts import StoreFacts


@dataclass(frozen=True, slots=True)
class ListedNode:
    """A node that kvtui can ask.

    Attributes:
        entry: What is known of it.
        source: ``hosts`` is a person's own entry; the lab's and the plan's cannot be edited here.
    """

    entry: NodeEntry
    source: Literal["hosts", "lab", "plan"] = "hosts"

    @property
    def name(self) -> str:
        """Its name in plans."""
        return self.entry.name


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

    async def entries(self) -> tuple[ListedNode, ...]:
        """All nodes: the person's own, the plan's, and the lab's while it is up."""

    async def save(self, entry: NodeEntry, old_name: str | None) -> None:
        """Add a node, or change the one of the old name.

        Raises:
            KvtuiError: A field is not allowed; the sentence names it.
        """

    async def remove(self, name: str) -> None:
        """Forget a node of one's own."""

    async def read(self, node: ListedNode) -> NodeFacts | NodeDown:
        """What the node is made of, read now; may ask for a host key or a passphrase."""

    async def read_store(self, node: ListedNode, plan: Plan | None) -> StoreFacts | NodeDown | None:
        """The store that the plan has on this node; ``None`` where it has none there."""

    async def measure(self, node: ListedNode, plan: Plan | None) -> tuple[Ceiling, ...]:
        """Measure what the node's disk, network and memory can do, and keep it."""

    def ceilings(self, name: str) -> tuple[Ceiling, ...]:
        """What was measured of a node before."""

    def shell(self, node: ListedNode) -> str:
        """The command that opens a shell on the node."""
