"""A plan written as TOML that reads back equal, with a word on every field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from kvtui.errors import PlanError
from kvtui.plan import Plan, Tier, parse_plan

_PARTS = ("model", "corpus", "engine", "hash", "store", "passes")


def to_toml(plan: Plan, *, commented: bool = False) -> str:
    """The plan as TOML, proved by reading it back.

    Args:
        plan: The plan.
        commented: Whether to write every field with what it means; else only those that differ from what
            kvtui takes without them.

    Raises:
        PlanError: A value does not survive the way through TOML.
    """
    text = "\n".join(_lines(plan, commented)) + "\n"
    if parse_plan(text, "The plan as it was written") != plan:
        raise PlanError(f"Plan {plan.name} does not read back as it was written.", text)
    return text


def _lines(plan: Plan, commented: bool) -> Iterator[str]:
    yield from _fields(plan, commented, only=("name", "lab", "notes"))
    for name in _PARTS:
        part = getattr(plan, name)
        if part is None:
            continue
        lines = list(_fields(part, commented))
        if lines or name in ("model", "corpus"):
            yield from ("", f"[{name}]", *lines)
        if name == "engine":
            for node, entry in plan.nodes.items():
                yield from ("", f"[nodes.{node}]", *_fields(entry, commented))
    for tier in plan.tiers:
        yield from ("", "[[tiers]]", *_tier(tier, commented))


def _tier(tier: Tier, commented: bool) -> Iterator[str]:
    of_its_kind = {"none": (), "dram": ("policy",), "disk": ("path", "policy"), "valkey": ("workers",)}
    only = ("name", "kind", "capacity_gib", *of_its_kind[tier.kind])
    said = {*only, *(name for name, value in tier if value != type(tier).model_fields[name].default)}
    return _fields(tier, commented, only=tuple(name for name in type(tier).model_fields if name in said))


def _fields(part: BaseModel, commented: bool, only: tuple[str, ...] | None = None) -> Iterator[str]:
    values = part.model_dump(mode="json")
    for name, field in type(part).model_fields.items():
        if only is not None and name not in only:
            continue
        value = "unset" if name == "seed" and values[name] is None else values[name]
        usual = not field.is_required() and getattr(part, name) == field.get_default(
            call_default_factory=True
        )
        if value is None or (usual and not commented):
            continue
        word = _word(field.description) if commented else ""
        yield f"{name} = {toml_value(value)}" + (f"  # {word}" if word else "")


def _word(description: str | None) -> str:
    """The first sentence of a field's description, without marks of its markup."""
    text = " ".join((description or "").split()).replace("``", "")
    return text.split(". ")[0].rstrip(".")


def toml_value(value: Any) -> str:
    """A plain value in TOML's notation; keys and texts as basic strings."""
    match value:
        case None:
            return '"unset"'
        case bool():
            return "true" if value else "false"
        case str():
            # A JSON text is a TOML one but for this character.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case int() | float():
            return repr(value)
        case dict():
            inner = ", ".join(f"{toml_value(key)} = {toml_value(one)}" for key, one in value.items())
            return f"{{ {inner} }}" if inner else "{}"
    return f"[{', '.join(toml_value(one) for one in value)}]"
