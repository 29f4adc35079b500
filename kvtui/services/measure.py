"""What is to be measured on a node for a plan."""

from __future__ import annotations

import os
from collections.abc import Iterable

from kvtui.campaign.ceiling_measuring import Kind, Measuring
from kvtui.campaign.target import host_of
from kvtui.hosts_file import Role
from kvtui.nodefacts import NodeFacts
from kvtui.plan import Plan, TierKind
from kvtui.services.hosts import LAB_STORE, KnownNode
from remote.hosts import HostSpec

# Of Qwen2.5-7B, 57,344 bytes a token; where nobody knows the plan's model.
CHUNK_BYTES = 57_344 * 256
HOME = "~"
WORKERS = 8  # the plan's own default


def chunk_bytes(plan: Plan | None, facts: Iterable[NodeFacts]) -> int:
    """Bytes of one chunk of the plan's model: as the plan says, else as a node with that model does."""
    if plan is None:
        return CHUNK_BYTES
    sizes = [plan.model.kv_bytes_per_token] + [
        model.kv_bytes_per_token
        for found in facts
        for model in found.models or ()
        if plan.model.path in (model.path, model.name)
    ]
    size = next((size for size in sizes if size), None)
    return size * plan.hash.chunk_tokens if size else CHUNK_BYTES


def measuring_of(node: KnownNode, plan: Plan | None, chunk: int) -> tuple[Measuring, tuple[Kind, ...]]:
    """What to measure on a node, and with what.

    Memory on every node; on one with engines also the disk below the plan's path, or the home directory, and
    the way to the plan's store, or the lab's.
    """
    engine = Role.GPU in node.entry.roles
    tiers = plan.tiers if plan else ()
    store = plan.store if plan else None
    place = (store.address, store.port) if store else node.lab_store
    kinds: tuple[Kind, ...] = ("memory",)
    if engine:
        kinds = ("memory", "disk", "network") if place else ("memory", "disk")
    measuring = Measuring(
        chunk_bytes=chunk,
        directory=next((tier.path for tier in tiers if tier.path), HOME),
        store_address=place[0] if place else "",
        store_port=place[1] if place else 0,
        store_password=os.environ.get(store.password_env or "", "") if store else "",
        workers=max((tier.workers for tier in tiers if tier.kind is TierKind.VALKEY), default=WORKERS),
        engine_python=node.entry.engine_python if engine else None,
    )
    return measuring, kinds


def store_host(node: KnownNode, plan: Plan | None, known: Iterable[KnownNode]) -> HostSpec | None:
    """How the machine is reached whose store :func:`measuring_of` measures the way to; None without one."""
    if plan is not None and plan.store is not None:
        return host_of(plan.store.node, plan.nodes[plan.store.node].ssh)
    if node.lab_store is None:
        return None
    return next((one.host for one in known if one.lab and one.entry.name == LAB_STORE), None)
