"""What a running lab says about itself, and the file that holds it."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from remote.hosts import HostSpec

VERSION = 1


@dataclass(frozen=True, slots=True)
class LabParts:
    """The programs and files that a lab is made of; they exist before it starts."""

    engine_python: str
    """Interpreter that runs the engines."""
    valkey_server: str
    """The Valkey server's program."""
    model_dir: str
    connector_dir: str
    """Directory for the engines' PYTHONPATH."""
    connector_module: str
    """Value of ``kv_connector_module_path``."""
    served_name: str
    """Value of ``--served-model-name``."""


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """Where the lab's Valkey listens."""

    host: str
    port: int
    maxmemory_bytes: int
    pid: int


@dataclass(frozen=True, slots=True)
class LabInfo:
    """A running lab: how to reach its nodes and its store, and what its engines need."""

    lab_id: str
    daemon_pid: int
    guard_pid: int
    started_wall_s: float
    idle_lease_s: float | None
    nodes: dict[str, HostSpec]
    store: StoreAddress
    parts: LabParts

    @property
    def ssh_ports(self) -> dict[str, int]:
        """Port of each node's SSH server."""
        return {name: host.port for name, host in self.nodes.items() if host.port is not None}


def to_json(info: LabInfo) -> str:
    """Write a lab's description as JSON text."""
    return json.dumps({"v": VERSION, **asdict(info)}, indent=1)


def from_json(text: str) -> LabInfo:
    """Read a lab's description.

    Raises:
        ValueError: The text is not a description of this version.
    """
    try:
        raw: dict[str, Any] = json.loads(text)
        if raw.pop("v") != VERSION:
            raise ValueError("another version of lab.json")
        nodes = {name: _host(fields) for name, fields in raw.pop("nodes").items()}
        store = StoreAddress(**raw.pop("store"))
        return LabInfo(nodes=nodes, store=store, parts=LabParts(**raw.pop("parts")), **raw)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not a lab description: {error}") from error


def _host(fields: dict[str, Any]) -> HostSpec:
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()}
    return HostSpec(**values)


def write(info: LabInfo, path: Path) -> None:
    """Write the description so that a reader sees all of it or none; only the owner may read it."""
    draft = path.with_suffix(".tmp")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(to_json(info))
    draft.replace(path)


def read(path: Path) -> LabInfo | None:
    """Read the description, or None where there is none or it makes no sense."""
    try:
        return from_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
