"""Nodes for the app's screens: the person's own, the lab's, the plan's."""

from __future__ import annotations

import os
import shlex

from kvtui.campaign.ceiling_measuring import measure_node
from kvtui.campaign.target import host_of
from kvtui.ceiling_store import CeilingStore
from kvtui.ceilings import Ceiling
from kvtui.hosts_file import NodeEntry
from kvtui.listed_node import ListedNode, NodeDown
from kvtui.nodefacts import NodeFacts
from kvtui.paths import Places
from kvtui.plan import Plan
from kvtui.services.hosts import HostsStore, KnownNode, known_nodes
from kvtui.services.links import LinkPool
from kvtui.services.measure import chunk_bytes, measuring_of, store_host
from kvtui.services.nodes import read_facts
from kvtui.services.probe import state_word, wanted_of
from kvtui.services.stores import read_store
from kvtui.storefacts import StoreFacts
from remote.errors import RemoteError
from remote.link import home


class AppNodes:
    """The nodes, over links that stay open.

    Args:
        places: kvtui's places.
        pool: The links.

    Attributes:
        facts: What was read of nodes last.
        homes: Their home directories.
        stores: What was read of stores last, by node and address.
    """

    def __init__(self, places: Places, pool: LinkPool) -> None:
        self._places = places
        self._pool = pool
        self._hosts = HostsStore(places.config)
        self._ceilings = CeilingStore(places.state)
        self._known: dict[str, KnownNode] = {}
        self.facts: dict[str, NodeFacts] = {}
        self.homes: dict[str, str] = {}
        self.stores: dict[str, StoreFacts] = {}

    async def entries(self, plan: Plan | None = None) -> tuple[ListedNode, ...]:
        """All nodes: the person's own, the lab's while it is up, and those that only the plan names.

        Raises:
            HostsError: ``hosts.toml`` is broken.
        """
        known = known_nodes(self._places)
        self._known = {node.entry.name: node for node in known}
        listed = [ListedNode(node.entry, "lab" if node.lab else "hosts") for node in known]
        for name, node in plan.nodes.items() if plan and not plan.lab else ():
            if name not in self._known:
                entry = NodeEntry(name=name, ssh=node.ssh, engine_python=node.engine_python)
                self._known[name] = KnownNode(entry, host_of(name, node.ssh))
                listed.append(ListedNode(entry, "plan"))
        return tuple(listed)

    async def save(self, entry: NodeEntry, old_name: str | None) -> None:
        """Add a node, or change the one of the old name.

        Raises:
            HostsError: It cannot be; the sentence names the field.
        """
        if old_name is None:
            self._hosts.add(entry)
        else:
            self._hosts.edit(old_name, entry)

    async def remove(self, name: str) -> None:
        """Forget a node of one's own."""
        self._hosts.remove(name)

    async def read(self, node: ListedNode) -> NodeFacts | NodeDown:
        """What the node is made of, read now."""
        known = self._known[node.name]
        link = self._pool.get(known.host)
        try:
            found = await read_facts(link, wanted_of(known.entry))
            self.homes[node.name] = await home(link)
        except RemoteError as error:
            return NodeDown(state_word(error), error.message, error.hint)
        self.facts[node.name] = found
        return found

    def facts_of(self, plan: Plan) -> dict[str, NodeFacts]:
        """What was read of the plan's own nodes; another machine of the same name says nothing."""
        return {name: found for name, found in self.facts.items() if self._means(plan, name)}

    def _means(self, plan: Plan, name: str) -> bool:
        known, named = self._known.get(name), plan.nodes.get(name)
        if known is None or plan.lab:
            return known is not None and known.lab
        return not known.lab and named is not None and named.ssh == known.entry.ssh

    async def read_store(self, node: ListedNode, plan: Plan | None) -> StoreFacts | NodeDown | None:
        """The store that the plan has on this node."""
        store = plan.store if plan else None
        if store is None or store.node != node.name:
            return None
        password = os.environ.get(store.password_env or "", "")
        link = self._pool.get(self._known[node.name].host)
        try:
            found = await read_store(link, store.address, store.port, password)
        except RemoteError as error:
            return NodeDown("store", error.message, error.hint)
        self.stores[f"{store.node} {found.address}"] = found
        return found

    async def measure(self, node: ListedNode, plan: Plan | None) -> tuple[Ceiling, ...]:
        """Measure what the node's disk, network and memory can do, and keep it.

        Raises:
            RemoteError: The node cannot be asked, or something could not be measured.
        """
        known = self._known[node.name]
        measuring, kinds = measuring_of(known, plan, chunk_bytes(plan, self.facts.values()))
        host = store_host(known, plan, self._known.values())
        store = self._pool.get(host) if host else None
        measured = await measure_node(self._pool.get(known.host), measuring, kinds, lambda text: None, store)
        self._ceilings.add(measured.ceilings)
        if measured.failures:
            raise measured.failures[0]
        return measured.ceilings

    def ceilings(self, name: str) -> tuple[Ceiling, ...]:
        """What was measured of a node before."""
        return tuple(ceiling for ceiling in self._ceilings.read() if ceiling.node == name)

    def shell(self, node: ListedNode) -> str:
        """The command that opens a shell on the node."""
        host = self._known[node.name].host
        user = f"{host.username}@" if host.username else ""
        port = ["-p", str(host.port)] if host.port else []
        keys = [part for key in host.client_keys or () for part in ("-i", key)]
        return shlex.join(["ssh", *port, *keys, f"{user}{host.address}"])
