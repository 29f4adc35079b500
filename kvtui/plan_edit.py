"""Fields of a plan set by their dotted names, as a person types them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from kvtui.errors import PlanError
from kvtui.plan import Corpus, Engine, Hash, Model, Node, Passes, Plan, Store, Tier, plan_of

_HOW = "Write field=value, such as corpus.documents=10 or tiers.dram.capacity_gib=20."
_PARTS: dict[str, type[BaseModel]] = {
    "model": Model,
    "corpus": Corpus,
    "engine": Engine,
    "hash": Hash,
    "store": Store,
    "passes": Passes,
}


def set_fields(plan: Plan, assignments: Iterable[str], source: str = "The plan") -> Plan:
    """A plan with fields changed, all of them or none.

    Args:
        plan: The plan.
        assignments: ``field=value``. A tier's fields stand below ``tiers.NAME``, a node's below
            ``nodes.NAME``. An empty value takes a field out, so that kvtui's own counts, and a whole tier or
            node too.
        source: What the message calls the plan.

    Raises:
        PlanError: There is no such field, or the plan with these values is none; the message names the field.
    """
    data = plan.model_dump(mode="json")
    for assignment in assignments:
        field, equals, typed = assignment.partition("=")
        if not equals or not field.strip():
            raise PlanError(f"{assignment!r} names no field and value.", _HOW)
        _put(data, field.strip(), typed.strip(), source)
    return plan_of(data, source)


def _put(data: dict[str, Any], field: str, typed: str, source: str) -> None:
    match field.split("."):
        case [name] if name in Plan.model_fields and name not in (*_PARTS, "nodes", "tiers"):
            _set(data, Plan, name, typed)
        case ["hash", "seed_on", node] if node:
            if typed:
                data["hash"]["seed_on"][node] = typed
            else:
                data["hash"]["seed_on"].pop(node, None)
        case [part, name] if part in _PARTS:
            data[part] = data[part] or {}
            _known(_PARTS[part], name, field, source)
            _set(data[part], _PARTS[part], name, typed)
        case ["nodes", node] if not typed and node in data["nodes"]:
            del data["nodes"][node]
        case ["nodes", node, name] if node:
            _known(Node, name, field, source)
            _set(data["nodes"].setdefault(node, {}), Node, name, typed)
        case ["tiers", tier] if not typed:
            data["tiers"].remove(_tier(data, tier, source))
        case ["tiers", tier, name]:
            _known(Tier, name, field, source)
            _set(_tier(data, tier, source), Tier, name, typed)
        case _:
            raise PlanError(f"{source}: there is no field {field}.", _HOW)


def _tier(data: dict[str, Any], name: str, source: str) -> dict[str, Any]:
    tiers: list[dict[str, Any]] = data["tiers"]
    for tier in tiers:
        if tier["name"] == name:
            return tier
    there = ", ".join(tier["name"] for tier in tiers)
    raise PlanError(f"{source}: there is no tier {name!r}; there are {there}.", _HOW)


def _known(part: type[BaseModel], name: str, field: str, source: str) -> None:
    if name not in part.model_fields:
        there = ", ".join(part.model_fields)
        raise PlanError(f"{source}: there is no field {field}; there are {there}.", _HOW)


def _set(values: dict[str, Any], part: type[BaseModel], name: str, typed: str) -> None:
    if typed == "" and part.model_fields[name] is not Hash.model_fields["seed"]:  # empty is a seed too
        values.pop(name, None)
    else:
        values[name] = _value(part.model_fields[name].annotation, typed)


def _value(annotation: Any, typed: str) -> Any:
    """What was typed: a text where one is allowed, without quotes around it; else as TOML reads it."""
    text = typed[1:-1] if len(typed) > 1 and typed[0] == typed[-1] == '"' else typed
    try:
        TypeAdapter(annotation).validate_json(json.dumps(text), strict=True)
    except ValidationError:
        pass
    else:
        return text
    try:
        return tomllib.loads(f"value = {typed}")["value"]
    except (tomllib.TOMLDecodeError, ValueError, RecursionError, KeyError):
        return text
