"""Nodes asked for what they are made of and what they can do, all at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from kvtui.hosts_file import ADD, HostsError, NodeEntry, Role
from kvtui.nodefacts import NodeFacts
from kvtui.services.hosts import KnownNode
from kvtui.services.nodes import Wanted, read_all
from remote.asking import Asker
from remote.errors import AuthFailed, CommandTimeout, HostKeyRefused, NodeUnreachable, NoPython, RemoteError
from remote.hosts import HostSpec
from remote.link import Link
from remote.ssh_aliases import ssh_aliases


@dataclass(frozen=True, slots=True)
class Probed:
    """A node, and what was found there or why nothing was."""

    node: KnownNode
    found: NodeFacts | RemoteError


def chosen(nodes: tuple[KnownNode, ...], names: Iterable[str]) -> tuple[KnownNode, ...]:
    """The nodes of these names, or all; an alias of the OpenSSH configuration is a node too.

    Raises:
        HostsError: A name is neither.
    """
    known = {node.entry.name: node for node in nodes}
    wanted = tuple(dict.fromkeys(names))
    aliases = () if all(name in known for name in wanted) else ssh_aliases()
    found = []
    for name in wanted:
        if name not in known and name not in aliases:
            named = ", ".join(known) or "none yet"
            raise HostsError(f"{name!r} is neither a node nor an SSH alias; known are: {named}.", ADD)
        found.append(known.get(name) or _alias(name))
    return tuple(found) if wanted else nodes


def _alias(name: str) -> KnownNode:
    # It may be written as no node's name may be.
    entry = NodeEntry.model_construct(name=name, ssh=name, roles=(Role.GPU,))
    return KnownNode(entry, HostSpec.from_alias(name))


@asynccontextmanager
async def links_to(nodes: Iterable[KnownNode], asker: Asker | None) -> AsyncIterator[dict[str, Link]]:
    """A link to each node, closed in the end."""
    links = {node.entry.name: Link(node.host, asker) for node in nodes}
    try:
        yield links
    finally:
        for link in links.values():
            await link.close()


def wanted_of(entry: NodeEntry) -> Wanted:
    """What to look for on a node."""
    engine = entry.engine_python if Role.GPU in entry.roles else None
    return Wanted(engine, entry.model_roots)


async def probe(
    nodes: tuple[KnownNode, ...],
    links: dict[str, Link],
    told: Callable[[str, NodeFacts | RemoteError], None] = lambda name, found: None,
) -> tuple[Probed, ...]:
    """Read every node's facts at once; one that cannot be read hinders no other.

    Args:
        nodes: The nodes.
        links: A link to each.
        told: Called with each node's facts or failure as soon as they are there.
    """
    wanted = {node.entry.name: wanted_of(node.entry) for node in nodes}
    found = await read_all(links, wanted, told)
    return tuple(Probed(node, found[node.entry.name]) for node in nodes)


def state_word(found: NodeFacts | RemoteError) -> str:
    """The state of a node in one or two words."""
    match found:
        case NodeFacts():
            return "ready"
        case HostKeyRefused():
            return "key changed" if found.known else "key unknown"
        case AuthFailed():
            return "no login"
        case NodeUnreachable():
            return "down"
        case NoPython():
            return "no Python"
        case CommandTimeout():
            return "no answer"
        case _:
            return "failed"
