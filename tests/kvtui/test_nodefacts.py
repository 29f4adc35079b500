"""A node's facts: kept as JSON, and asked where a path lies."""

from __future__ import annotations

import json

import pytest

from kvtui import nodefacts
from kvtui.nodefacts import Gpu, GpuProcess, Listener, ModelFolder, Mount, Nic, NodeFacts


def mount(path: str, device: str = "/dev/x") -> Mount:
    return Mount(path, device, "ext4", "nvme", 100, 50)


UNKNOWN = NodeFacts(
    name="gpu-a",
    hostname=None,
    python=None,
    kernel=None,
    cpu_model=None,
    cores=None,
    numa_nodes=None,
    ram_total_bytes=None,
    ram_available_bytes=None,
    swap_used_bytes=None,
    gpus=None,
    mounts=None,
    nics=None,
    listeners=None,
    thp=None,
    can_drop_caches=None,
    in_container=None,
    clock_skew_s=None,
    rtt_ms=None,
    read_wall_s=1.0,
)
KNOWN = NodeFacts(
    name="gpu-a",
    hostname="a",
    python="3.11.2",
    kernel="6.1",
    cpu_model="EPYC",
    cores=96,
    numa_nodes=2,
    ram_total_bytes=10,
    ram_available_bytes=5,
    swap_used_bytes=0,
    gpus=(Gpu(0, "H200", 150, 10, 7, "570.86", (GpuProcess(7, "python", 9),)),),
    mounts=(mount("/"), mount("/mnt/kv"), mount("/mnt/kv", "/dev/y")),
    nics=(Nic("eth0", 100_000, True),),
    listeners=(Listener(6379, None, None),),
    thp="never",
    can_drop_caches=False,
    in_container=True,
    clock_skew_s=-0.25,
    rtt_ms=0.8,
    read_wall_s=2.0,
    versions={"vllm": "0.28.0"},
    models=(ModelFolder("/m", "m", 57344),),
)


@pytest.mark.parametrize("facts", [UNKNOWN, KNOWN])
def test_facts_survive_json(facts: NodeFacts) -> None:
    assert nodefacts.from_json(json.loads(json.dumps(facts.to_json()))) == facts


def test_json_of_something_else_is_refused() -> None:
    with pytest.raises(ValueError, match="hostname"):
        nodefacts.from_json({"name": "gpu-a"})


def test_a_path_lies_on_the_deepest_and_latest_mount() -> None:
    inside = KNOWN.mount_of("/mnt/kv/not/yet")
    assert inside is not None
    assert inside.device == "/dev/y"
    beside = KNOWN.mount_of("/mnt/kvothe")
    assert beside is not None
    assert beside.path == "/"
    assert UNKNOWN.mount_of("/mnt/kv") is None
