"""A new plan: one of kvtui's own, on the nodes that a person has configured."""

from __future__ import annotations

from collections.abc import Iterable

from kvtui.hosts_file import NodeEntry, Role
from kvtui.plan import Node, Plan, Store, TierKind, Topology, validated
from kvtui.ssh_place import parse_place


def new_plan(base: Plan, entries: Iterable[NodeEntry]) -> Plan:
    """The base on configured nodes: the first two with a GPU, and the first store.

    With one GPU node nothing goes from node to node, and without a store there is no Valkey tier. Without any
    GPU node the base stays as it is.

    Args:
        base: The plan to begin with.
        entries: The nodes of ``hosts.toml``.
    """
    entries = tuple(entries)
    engines = [entry for entry in entries if Role.GPU in entry.roles][:2]
    stores = [entry for entry in entries if Role.STORE in entry.roles][:1]
    if not engines:
        return base
    names = {"cold_node": engines[0].name, "cached_node": engines[-1].name}
    topologies = tuple(Topology) if len(engines) > 1 else (Topology.SINGLE,)
    tiers = tuple(tier for tier in base.tiers if stores or tier.kind is not TierKind.VALKEY)
    return validated(
        base.model_copy(
            update={
                "nodes": {entry.name: _node(entry) for entry in (*engines, *stores)},
                "store": _store(stores[0]) if stores else None,
                "passes": base.passes.model_copy(update={**names, "topologies": topologies}),
                "tiers": tiers,
            }
        )
    )


def _node(entry: NodeEntry) -> Node:
    return Node(ssh=entry.ssh, engine_python=entry.engine_python, hourly_price=entry.hourly_price)


def _store(entry: NodeEntry) -> Store:
    return Store(node=entry.name, address=parse_place(entry.ssh).address)
