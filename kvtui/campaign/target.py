"""Where the plan's nodes are: addresses, interpreters, the model, the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from kvtui.errors import PlanError
from kvtui.plan import Plan
from kvtui.ssh_place import parse_place
from remote.hosts import HostSpec


@dataclass(frozen=True, slots=True)
class Target:
    """What a plan's names stand for.

    Attributes:
        hosts: How to reach each node.
        engine_python: Interpreter of the engine's environment by node; may begin with ``~``.
        model_path: What ``--model`` gets on every node.
        store_node: Node of the store, or empty.
        store_address: Host of the store as the engines reach it.
        store_port: Its port.
        connector_module: Module with the KV connector, or empty for vLLM's own.
        engine_env: Environment of every engine beside the common one.
        lab: Whether these are the lab's nodes.
        owns_lab: Whether a run started the lab, and so the run's end ends it.
    """

    hosts: Mapping[str, HostSpec]
    engine_python: Mapping[str, str]
    model_path: str
    store_node: str = ""
    store_address: str = ""
    store_port: int = 0
    connector_module: str = ""
    engine_env: Mapping[str, str] = field(default_factory=dict)
    lab: bool = False
    owns_lab: bool = False

    def to_json(self) -> dict[str, Any]:
        """The target as a JSON object."""
        return asdict(self)


def target_from_json(data: dict[str, Any]) -> Target:
    """A target from its JSON object."""
    hosts = {}
    for name, fields in data["hosts"].items():
        for part in ("client_keys", "config"):
            fields[part] = None if fields[part] is None else tuple(fields[part])
        hosts[name] = HostSpec(**fields)
    return Target(**{**data, "hosts": hosts})


def host_of(name: str, ssh: str) -> HostSpec:
    """How to reach a node: an alias of the OpenSSH configuration, or ``user@host:port``.

    Args:
        name: What the plan calls the node.
        ssh: Its ``ssh`` in the plan; an IPv6 address with a port stands in brackets.

    Raises:
        PlanError: It is neither.
    """
    try:
        place = parse_place(ssh)
    except ValueError as error:
        raise PlanError(f"nodes.{name}.ssh: {error}.") from error
    return HostSpec(name=name, address=place.address, port=place.port, username=place.user)


def target_of_plan(plan: Plan) -> Target:
    """The target of a plan that names its nodes itself."""
    store = plan.store
    names = [*plan.engine_nodes, *([store.node] if store and plan.needs_store else [])]
    return Target(
        hosts={name: host_of(name, plan.nodes[name].ssh) for name in dict.fromkeys(names)},
        engine_python={name: plan.nodes[name].engine_python for name in plan.engine_nodes},
        model_path=plan.model.path,
        store_node=store.node if store else "",
        store_address=store.address if store else "",
        store_port=store.port if store else 0,
    )
