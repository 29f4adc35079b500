"""``hosts.toml``: the nodes that a person has entered, read, checked and written."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from kvtui.errors import ExitCode, KvtuiError
from kvtui.fault_words import fault_sentence
from kvtui.plan import Name
from kvtui.ssh_place import parse_place

HEADER = "# The nodes that kvtui knows. Changing one with kvtui writes the file anew, without comments.\n"
ADD = "Add one with: kvtui nodes add NAME SSH"
_MEND = "Mend the file; kvtui locate says where it is."


class HostsError(KvtuiError):
    """``hosts.toml``, or a change to it, is not usable."""

    exit_code = ExitCode.USAGE


class Role(StrEnum):
    """What a node is for."""

    GPU = "gpu"
    STORE = "store"


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("holds a character that cannot be shown")
    return text


def _place(ssh: str) -> str:
    parse_place(ssh)
    return ssh


def _roles(roles: tuple[Role, ...]) -> tuple[Role, ...]:
    return tuple(role for role in Role if role in roles)


Text = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(_printable)]


class NodeEntry(BaseModel):
    """One node of ``hosts.toml``; the same host may be several."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    """What plans, tables and messages call it."""
    ssh: Annotated[Text, AfterValidator(_place)]
    """An alias of ``~/.ssh/config``, or ``user@host:port``, an IPv6 address in brackets."""
    roles: Annotated[tuple[Role, ...], Field(min_length=1), AfterValidator(_roles)] = (Role.GPU,)
    engine_python: Text = "~/kvtui-engine/bin/python"
    """The interpreter of the environment with vLLM and LMCache."""
    model_roots: tuple[Text, ...] = ()
    """Folders on the node in which model folders lie."""
    hourly_price: Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)] | None = None
    """What an hour of it costs, in whatever currency, for the forecast."""
    identity_file: Text | None = None
    """The private key to log in with, and no other; without it, those of OpenSSH and the agent."""


def parse_hosts(text: str, source: str) -> tuple[NodeEntry, ...]:
    """Read ``hosts.toml``.

    Args:
        text: Its content.
        source: Name of the file, for the message.

    Raises:
        HostsError: It is not TOML, names an unknown field, or holds a value that is not allowed; the message
            names file, line and field.
    """
    return tuple(_entry(text, source, name, fields) for name, fields in _tables(text, source).items())


def format_hosts(entries: Iterable[NodeEntry]) -> str:
    """The text of ``hosts.toml``; reading it gives the same entries again."""
    return HEADER + "".join(_table(entry) for entry in entries)


def make_entry(fields: Mapping[str, Any]) -> NodeEntry:
    """A node from its fields.

    Raises:
        HostsError: A field is missing, unknown or not allowed; the message names each.
    """
    try:
        return NodeEntry.model_validate(dict(fields))
    except ValidationError as error:
        faults = "; ".join(f"{field}: {what}" if field else what for field, what in _faults(error))
        raise HostsError(f"{faults}.", "See kvtui nodes add --help.") from error


def field_fault(field: str, value: object) -> str | None:
    """Why a value is not allowed in a field of a node, as it is typed; None where it is."""
    try:
        NodeEntry.model_validate({"name": "x", "ssh": "x", field: value})
    except ValidationError as error:
        return next(what for _, what in _faults(error))
    return None


def with_added(entries: tuple[NodeEntry, ...], entry: NodeEntry) -> tuple[NodeEntry, ...]:
    """The nodes and one more.

    Raises:
        HostsError: One has that name already.
    """
    if any(known.name == entry.name for known in entries):
        raise HostsError(
            f"There is a node {entry.name} already.", f"Change it with: kvtui nodes edit {entry.name}"
        )
    return (*entries, entry)


def with_changed(entries: tuple[NodeEntry, ...], name: str, entry: NodeEntry) -> tuple[NodeEntry, ...]:
    """The nodes, one of them replaced; it may get another name.

    Raises:
        HostsError: There is no node of that name, or another has the new one.
    """
    place = entries.index(named(entries, name))
    others = (*entries[:place], *entries[place + 1 :])
    with_added(others, entry)
    return (*entries[:place], entry, *entries[place + 1 :])


def without(entries: tuple[NodeEntry, ...], name: str) -> tuple[NodeEntry, ...]:
    """The nodes, one of them left out.

    Raises:
        HostsError: There is no node of that name.
    """
    gone = named(entries, name)
    return tuple(entry for entry in entries if entry is not gone)


def named(entries: tuple[NodeEntry, ...], name: str) -> NodeEntry:
    """The node of that name.

    Raises:
        HostsError: There is none.
    """
    for entry in entries:
        if entry.name == name:
            return entry
    known = ", ".join(entry.name for entry in entries) or "none yet"
    raise HostsError(
        f"There is no node {name!r}; known are: {known}.", "Add one with: kvtui nodes add NAME SSH"
    )


def _tables(text: str, source: str) -> dict[str, Any]:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise HostsError(f"{source}:{line}: this is not TOML: {error}.", _MEND) from error
    except (RecursionError, ValueError) as error:
        # Nested too deeply, or a number of thousands of digits.
        raise HostsError(f"{source}:1: a value in it cannot be read: {error}.", _MEND) from error
    tables = data.pop("nodes", {})
    for field in data:
        raise HostsError(f"{_at(text, source, '', field)}: {field}: unknown field.", _MEND)
    if not isinstance(tables, dict):
        raise HostsError(f"{_at(text, source, '', 'nodes')}: nodes: it is no table.", _MEND)
    return tables


def _entry(text: str, source: str, name: str, fields: object) -> NodeEntry:
    if not isinstance(fields, dict):
        raise HostsError(f"{_at(text, source, '', 'nodes')}: nodes.{name}: it is no table.", _MEND)
    if "name" in fields:
        at = _at(text, source, name, "name")
        raise HostsError(f"{at}: nodes.{name}.name: unknown field.", _MEND)
    try:
        return NodeEntry(name=name, **fields)
    except ValidationError as error:
        faults = "; ".join(
            f"{_at(text, source, name, field)}: nodes.{name}{f'.{field}' if field else ''}: {what}"
            for field, what in _faults(error)
        )
        raise HostsError(f"{faults}.", _MEND) from error


def _faults(error: ValidationError) -> list[tuple[str, str]]:
    """Field and reason of each fault."""
    faults: dict[str, str] = {}
    for fault in error.errors():
        field = str(fault["loc"][0]) if fault["loc"] else ""
        faults.setdefault(field, fault_sentence(fault))
    return list(faults.items())


def _at(text: str, source: str, node: str, field: str = "") -> str:
    """The file and, as near as it can be told, the line of a node's field."""
    header = re.compile(rf"\s*\[\s*\"?nodes\"?\s*\.\s*[\"']?{re.escape(node)}[\"']?\s*\]")
    value = re.compile(rf"\s*\[*\s*[\"']?{re.escape(field)}[\"']?\s*[=.\]]")
    inside, at = not node, 1
    for number, line in enumerate(text.splitlines(), 1):
        if node and line.lstrip().startswith("["):
            inside = header.match(line) is not None
            at = number if inside else at
        elif inside and field and value.match(line):
            return f"{source}:{number}"
        if not node and value.match(line):
            return f"{source}:{number}"
    return f"{source}:{at}"


def _table(entry: NodeEntry) -> str:
    lines = [f"\n[nodes.{entry.name}]"]
    for field, value in entry.model_dump(mode="json", exclude={"name"}, exclude_defaults=True).items():
        lines.append(f"{field} = {_value(value)}")
    return "\n".join(lines) + "\n"


def _value(value: str | float | list[str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_value(item) for item in value)}]"
    # A JSON string of printable characters is a TOML string; a float is written as Python reads it back.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(float(value))
