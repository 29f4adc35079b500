"""Makes a node's facts of what its agent answered; whatever the answer lacks or garbles is unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, get_args

from kvtui.errors import PlanError
from kvtui.kvsize import kv_shape
from kvtui.loglines import clean
from kvtui.nodefacts import Gpu, GpuProcess, Listener, ModelFolder, Mount, MountKind, Nic, NodeFacts

MOST_TEXT = 300
_KINDS: tuple[MountKind, ...] = get_args(MountKind)
T = TypeVar("T")


def node_facts(
    name: str,
    machine: Mapping[str, Any],
    engine: Mapping[str, Any] | None = None,
    *,
    read_wall_s: float,
    clock_skew_s: float | None = None,
    rtt_ms: float | None = None,
) -> NodeFacts:
    """The facts of one node.

    Args:
        name: The node.
        machine: Answer to the agent's ``facts``.
        engine: Answer to ``engine-facts``; ``None`` where nobody asked.
        read_wall_s: When they were read.
        clock_skew_s: How far its clock is ahead.
        rtt_ms: Round trip to it.
    """
    engine_facts = engine or {}
    return NodeFacts(
        name=name,
        hostname=_text(machine, "hostname"),
        python=_text(machine, "python"),
        kernel=_text(machine, "kernel"),
        cpu_model=_text(machine, "cpu_model"),
        cores=_whole(machine, "cores"),
        numa_nodes=_whole(machine, "numa_nodes"),
        ram_total_bytes=_whole(machine, "ram_total_bytes"),
        ram_available_bytes=_whole(machine, "ram_available_bytes"),
        swap_used_bytes=_whole(machine, "swap_used_bytes"),
        gpus=_each(machine, "gpus", _gpu),
        mounts=_each(machine, "mounts", _mount),
        nics=_each(machine, "nics", _nic),
        listeners=_each(machine, "listeners", _listener),
        thp=_text(machine, "thp"),
        can_drop_caches=_truth(machine, "can_drop_caches"),
        in_container=_truth(machine, "in_container"),
        clock_skew_s=clock_skew_s,
        rtt_ms=rtt_ms,
        read_wall_s=read_wall_s,
        versions=_versions(engine_facts.get("versions")),
        models=None if engine is None else _each(engine, "models", _model),
        engine_problem=_text(engine_facts, "problem") or "",
    )


def _gpu(row: Mapping[str, Any]) -> Gpu:
    return Gpu(
        index=_whole(row, "index"),
        name=_text(row, "name") or "",
        memory_total_bytes=_whole(row, "memory_total_bytes"),
        memory_used_bytes=_whole(row, "memory_used_bytes"),
        utilisation_percent=_whole(row, "utilisation_percent"),
        driver_version=_text(row, "driver_version"),
        foreign=_each(row, "foreign", _gpu_process),
    )


def _gpu_process(row: Mapping[str, Any]) -> GpuProcess:
    return GpuProcess(_needed(row, "pid"), _text(row, "name") or "", _whole(row, "memory_bytes"))


def _mount(row: Mapping[str, Any]) -> Mount:
    disks = row.get("disks")
    return Mount(
        path=str(row["path"]),
        device=_text(row, "device") or "",
        fstype=_text(row, "fstype") or "",
        kind=next((kind for kind in _KINDS if kind == row.get("kind")), "unknown"),
        size_bytes=_whole(row, "size_bytes"),
        free_bytes=_whole(row, "free_bytes"),
        disks=tuple(_plain(disk) for disk in disks) if isinstance(disks, list) else (),
    )


def _nic(row: Mapping[str, Any]) -> Nic:
    return Nic(_text(row, "name") or "", _whole(row, "speed_mbit"), _truth(row, "up"))


def _listener(row: Mapping[str, Any]) -> Listener:
    return Listener(_needed(row, "port"), _whole(row, "pid"), _text(row, "comm"))


def _model(row: Mapping[str, Any]) -> ModelFolder:
    path = str(row["path"])
    name = _text(row, "name") or _plain(path)
    config = row.get("config")
    if not isinstance(config, dict):
        return ModelFolder(path, name, None, _text(row, "problem") or "its config.json was not read")
    try:
        shape = kv_shape(config, "config.json")
    except PlanError as error:
        return ModelFolder(path, name, None, _plain(error.message))
    return ModelFolder(path, name, shape.bytes_per_token)


def _versions(found: object) -> dict[str, str]:
    if not isinstance(found, dict):
        return {}
    return {_plain(name): _plain(version) for name, version in found.items()}


def _each(data: Mapping[str, Any], key: str, make: Callable[[Mapping[str, Any]], T]) -> tuple[T, ...] | None:
    """Everything in a list that can be made out; ``None`` where there is no list."""
    rows = data.get(key)
    if not isinstance(rows, list):
        return None

    def made() -> Iterator[T]:
        for row in rows:
            try:
                yield make(row)
            except (AttributeError, KeyError, TypeError):
                continue

    return tuple(made())


def _plain(value: object) -> str:
    """Text that may be shown: one line, no control characters, no end of it."""
    return " ".join(clean(str(value)).split())[:MOST_TEXT]


def _text(data: Mapping[str, Any], key: str) -> str | None:
    value = data.get(key)
    return _plain(value) if isinstance(value, str) else None


def _whole(data: Mapping[str, Any], key: str) -> int | None:
    value = data.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _needed(data: Mapping[str, Any], key: str) -> int:
    value = _whole(data, key)
    if value is None:
        raise KeyError(key)
    return value


def _truth(data: Mapping[str, Any], key: str) -> bool | None:
    value = data.get(key)
    return value if isinstance(value, bool) else None
