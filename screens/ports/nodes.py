"""What the Nodes screen asks for."""

from __future__ import annotations

from typing import Protocol

from kvtui.ceilings import Ceiling
from kvtui.hosts_file import NodeEntry
from kvtui.listed_node import ListedNode, NodeDown
from kvtui.nodefacts import NodeFacts
from kvtui.plan import Plan
from kvtui.storefacts import StoreFacts


class Nodes(Protocol):
    """The nodes that a person entered, and what can be learnt of them."""

    async def entries(self, plan: Plan | None) -> tuple[ListedNode, ...]:
        """All nodes: the person's own, the lab's while it is up, and those that only the plan names."""

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
