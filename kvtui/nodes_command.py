"""The work behind ``kvtui nodes probe``."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kvtui.asking import terminal_asker
from kvtui.campaign.ceiling_measuring import Measured, measure_node
from kvtui.campaign.context import Reporter
from kvtui.ceiling_store import CeilingStore
from kvtui.hosts_file import NodeEntry
from kvtui.node_tables import ceilings_text, details_text, probed_text
from kvtui.nodefacts import NodeFacts
from kvtui.paths import Places
from kvtui.plan import Plan, load_plan
from kvtui.services.hosts import KnownNode, known_nodes
from kvtui.services.links import LinkPool
from kvtui.services.measure import chunk_bytes, measuring_of, store_host
from kvtui.services.probe import Probed, chosen, links_to, probe, state_word
from remote.errors import RemoteError
from remote.link import Link


@dataclass(frozen=True, slots=True)
class NodesWish:
    """What a person wants to know.

    Attributes:
        names: Nodes or SSH aliases; all when empty.
        ceilings: Whether to measure.
        plan: The plan to measure for.
    """

    names: tuple[str, ...] = ()
    ceilings: bool = False
    plan: Path | None = None


@dataclass(frozen=True, slots=True)
class Looked:
    """A node, what was found there, and what was measured."""

    probed: Probed
    measured: Measured

    @property
    def entry(self) -> NodeEntry:
        """What is known of the node."""
        return self.probed.node.entry

    @property
    def facts(self) -> NodeFacts | None:
        """What it is made of, where it could be read."""
        return self.probed.found if isinstance(self.probed.found, NodeFacts) else None

    @property
    def state(self) -> str:
        """Its state in one or two words."""
        return state_word(self.probed.found)

    @property
    def failures(self) -> tuple[RemoteError, ...]:
        """What could not be had."""
        found = self.probed.found
        return self.measured.failures if isinstance(found, NodeFacts) else (found, *self.measured.failures)

    def to_json(self) -> dict[str, Any]:
        """The node as a JSON object."""
        return {
            "name": self.entry.name,
            "ssh": self.entry.ssh,
            "state": self.state,
            "facts": self.facts.to_json() if self.facts else None,
            "ceilings": [ceiling.to_json() for ceiling in self.measured.ceilings],
            "errors": [str(failure) for failure in self.failures],
        }


async def look(wish: NodesWish, where: Places, reporter: Reporter) -> tuple[Looked, ...]:
    """Ask nodes at once, then measure on one after another, since they may share a disk or a store.

    Raises:
        HostsError: ``hosts.toml`` is broken, or a name is neither a node nor an SSH alias.
        PlanError: The plan cannot be read.
    """
    plan = load_plan(wish.plan) if wish.plan else None
    known = known_nodes(where)
    nodes = chosen(known, wish.names)
    answered: set[str] = set()

    def told(name: str, _: object) -> None:
        answered.add(name)
        reporter.phase(f"{len(answered)} of {len(nodes)} nodes are through")

    async with links_to(nodes, terminal_asker()) as links:
        probed = await probe(nodes, links, told)
        if nodes:
            ready = sum(1 for one in probed if isinstance(one.found, NodeFacts))
            reporter.say(f"{ready} of {len(nodes)} nodes are ready.")
        if not wish.ceilings:
            return tuple(Looked(one, Measured(())) for one in probed)
        store_links = LinkPool(terminal_asker())
        try:
            return await _measured(
                probed,
                lambda node: links[node.entry.name],
                lambda node: store_links.get(host) if (host := store_host(node, plan, known)) else None,
                plan,
                CeilingStore(where.state),
                reporter,
            )
        finally:
            await store_links.close()


def looked_text(looked: tuple[Looked, ...], *, with_details: bool) -> str:
    """The nodes as text: a table, then in full those that were asked for by name."""
    parts = [probed_text((one.entry, one.state, one.facts) for one in looked)]
    for one in looked:
        if with_details and one.facts:
            parts.append(details_text(one.facts))
        if one.measured.ceilings:
            parts.append(ceilings_text(one.entry.name, one.measured.ceilings, time.time()))
    return "\n\n".join(parts)


async def _measured(
    probed: tuple[Probed, ...],
    link_to: Callable[[KnownNode], Link],
    store_of: Callable[[KnownNode], Link | None],
    plan: Plan | None,
    store: CeilingStore,
    reporter: Reporter,
) -> tuple[Looked, ...]:
    chunk = chunk_bytes(plan, (one.found for one in probed if isinstance(one.found, NodeFacts)))
    looked = []
    fault = store.fault()
    if fault:
        reporter.say(fault.line())
    for one in probed:
        measured = Measured(())
        if isinstance(one.found, NodeFacts):
            measuring, kinds = measuring_of(one.node, plan, chunk)
            measured = await measure_node(
                link_to(one.node), measuring, kinds, reporter.say, store_of(one.node)
            )
            store.add(measured.ceilings)
        looked.append(Looked(one, measured))
    return tuple(looked)
