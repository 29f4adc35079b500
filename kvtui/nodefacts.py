"""What a node is made of, as it was read from the node itself. What could not be found out is ``None``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Literal

from pydantic import TypeAdapter

MountKind = Literal["nvme", "ssd", "rotational", "network", "memory", "overlay", "unknown"]


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """A process that holds memory of a GPU; in a container, some cannot be told by name."""

    pid: int
    name: str
    memory_bytes: int | None


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU, as nvidia-smi shows it.

    Attributes:
        foreign: Processes that hold memory there and that no kvtui started; ``None`` when unknown.
    """

    index: int | None
    name: str
    memory_total_bytes: int | None
    memory_used_bytes: int | None
    utilisation_percent: int | None
    driver_version: str | None
    foreign: tuple[GpuProcess, ...] | None


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted file system.

    Attributes:
        kind: What its data lies on; ``ssd`` is one that is not NVMe, ``unknown`` often a virtual disk.
        free_bytes: What the user may still write.
        disks: The disks below it, through partitions, LVM, dm-crypt and RAID.
    """

    path: str
    device: str
    fstype: str
    kind: MountKind
    size_bytes: int | None
    free_bytes: int | None
    disks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Nic:
    """A network interface; a virtual one names no line rate, or one that is none."""

    name: str
    speed_mbit: int | None
    up: bool | None


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model on the node's disk.

    Attributes:
        path: The folder that holds its ``config.json``.
        name: The hub's id where the folder is one of the hub's cache, else the folder's name.
        kv_bytes_per_token: Bytes that LMCache stores for a token, one rank, the model's own type.
        why_unknown: Why that is not known, or empty.
    """

    path: str
    name: str
    kv_bytes_per_token: int | None
    why_unknown: str = ""


@dataclass(frozen=True, slots=True)
class Listener:
    """A TCP port that something listens on; another user's process is not seen without root."""

    port: int
    pid: int | None
    process: str | None


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """One node at one time.

    Attributes:
        python: Version of the Python that runs the node's agent.
        cores: Cores that the user's processes may run on.
        gpus: Empty where there is none; ``None`` where a driver is loaded and nvidia-smi does not answer.
        versions: Package to version in the engine's environment, ``python`` among them; empty when unknown.
        models: Models found below the asked-for folders; ``None`` when not asked.
        engine_problem: Why ``versions`` is empty, in a sentence; empty when they are known or nobody asked.
        thp: Transparent huge pages: ``always``, ``madvise`` or ``never``.
        can_drop_caches: Whether the user may drop the node's whole page cache.
        clock_skew_s: How far the node's clock is ahead of this machine's, give or take half of ``rtt_ms``.
        rtt_ms: Shortest round trip of a question to a running agent.
        read_wall_s: When this was read, by this machine's clock.
    """

    name: str
    hostname: str | None
    python: str | None
    kernel: str | None
    cpu_model: str | None
    cores: int | None
    numa_nodes: int | None
    ram_total_bytes: int | None
    ram_available_bytes: int | None
    swap_used_bytes: int | None
    gpus: tuple[Gpu, ...] | None
    mounts: tuple[Mount, ...] | None
    nics: tuple[Nic, ...] | None
    listeners: tuple[Listener, ...] | None
    thp: str | None
    can_drop_caches: bool | None
    in_container: bool | None
    clock_skew_s: float | None
    rtt_ms: float | None
    read_wall_s: float
    versions: Mapping[str, str] = field(default_factory=dict)
    models: tuple[ModelFolder, ...] | None = None
    engine_problem: str = ""

    def mount_of(self, path: str) -> Mount | None:
        """The mount that holds an absolute path, or would hold it once it is made."""
        wanted = PurePosixPath(path)
        holding = [mount for mount in self.mounts or () if wanted.is_relative_to(mount.path)]
        # Of two mounts on one place the later one hides the other.
        return max(reversed(holding), key=lambda mount: len(PurePosixPath(mount.path).parts), default=None)

    def to_json(self) -> dict[str, Any]:
        """The facts as a JSON object."""
        found: dict[str, Any] = _ADAPTER.dump_python(self, mode="json")
        return found


_ADAPTER = TypeAdapter(NodeFacts)


def from_json(data: Mapping[str, Any]) -> NodeFacts:
    """The facts from their JSON object.

    Raises:
        ValueError: It is not one.
    """
    return _ADAPTER.validate_python(data)
