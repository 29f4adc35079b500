"""The text of a plan with some of its fields changed, and everything else as the person wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kvtui.errors import PlanError
from kvtui.plan import Plan, parse_plan
from kvtui.plan_toml import to_toml, toml_value

_HEADER = re.compile(r"\s*(\[\[?)\s*([\w.-]+)\s*\]\]?\s*(#.*)?$", re.ASCII)
_FIELD = re.compile(
    r'(?P<before>\s*(?P<key>[\w-]+)\s*=\s*)(?P<value>"(?:[^"\\]|\\.)*"|\[[^\[\]#]*\]|[^\s#"\'\[\]{}]+)(?P<after>\s*(#.*)?)$',
    re.ASCII,
)


def changed_text(text: str, before: Plan, after: Plan) -> str:
    """The text of ``before`` changed into one that reads as ``after``, with its comments and its order.

    Where a change does not fit into the text as it stands, the plan is written anew, without comments.

    Raises:
        PlanError: A value does not survive the way through TOML.
    """
    changes = _changes(before, after)
    if before.tiers and [tier.name for tier in before.tiers] == [tier.name for tier in after.tiers]:
        edited = "".join(_edited(text, before, changes))
        try:
            if parse_plan(edited, "The plan") == after:
                return edited
        except PlanError:
            pass
    return to_toml(after)


def _changes(before: Plan, after: Plan) -> dict[str, Any]:
    """Fields that differ, by dotted name, with their new values; ``None`` for a field that goes."""
    old, new = dict(_walk("", _plain(before))), dict(_walk("", _plain(after)))
    return {field: new.get(field) for field in (*new, *old) if old.get(field) != new.get(field)}


def _plain(plan: Plan) -> dict[str, Any]:
    data = plan.model_dump(mode="json")
    data["tiers"] = {tier["name"]: tier for tier in data["tiers"]}
    if data["hash"]["seed"] is None:
        data["hash"]["seed"] = "unset"
    return data


def _walk(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _walk(f"{place}.{name}" if place else name, inner)
    else:
        yield place, value


def _edited(text: str, before: Plan, changes: Mapping[str, Any]) -> Iterator[str]:
    """The lines with their values exchanged; fields that stand nowhere come below their table's head."""
    lines = text.splitlines(keepends=True)
    left = dict(changes)
    for prefix, line in _placed(lines, before):
        field = _FIELD.match(line.rstrip("\r\n"))
        name = f"{prefix}.{field['key']}" if field and prefix else field["key"] if field else ""
        if field and name in left:
            value = left.pop(name)
            if value is not None:
                ending = line[len(line.rstrip("\r\n")) :]
                yield f"{field['before']}{toml_value(value)}{field['after']}{ending}"
            continue
        yield line
        if _HEADER.match(line):
            standing = {_name(prefix, other) for other in _keys(lines, prefix, before)}
            for missing in [one for one in left if _table_of(one) == prefix and one not in standing]:
                value = left.pop(missing)
                if value is not None:
                    yield f"{missing.rpartition('.')[2]} = {toml_value(value)}\n"


def _name(prefix: str, key: str) -> str:
    return f"{prefix}.{key}" if prefix else key


def _table_of(field: str) -> str:
    return field.rpartition(".")[0]


def _keys(lines: list[str], prefix: str, before: Plan) -> Iterator[str]:
    for place, line in _placed(lines, before):
        field = re.match(r"\s*([\w-]+)\s*=", line)
        if place == prefix and field:
            yield field[1]


def _placed(lines: list[str], before: Plan) -> Iterator[tuple[str, str]]:
    """Each line with the dotted name of its table; a tier's table goes by the tier's name."""
    prefix, tier = "", -1
    for line in lines:
        header = _HEADER.match(line)
        if header and header[1] == "[[" and header[2] == "tiers" and tier + 1 < len(before.tiers):
            tier += 1
            prefix = f"tiers.{before.tiers[tier].name}"
        elif header:
            prefix = header[2]
        yield prefix, line
