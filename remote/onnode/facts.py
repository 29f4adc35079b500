"""What kind of machine this is. What cannot be found out is null."""

from __future__ import annotations

import os
import platform
import re
import socket
import subprocess
import time
from typing import Any, Dict, List, Optional, Tuple

from . import places

GPU_QUERY = ("index", "name", "uuid", "memory.total", "driver_version")
GPU_LIMIT_S = 20


def facts(args: Dict[str, Any]) -> Dict[str, Any]:
    """The machine, and the disks below the given ``paths``."""
    memory = _memory()
    return {
        "python": platform.python_version(),
        "hostname": socket.gethostname(),
        "kernel": platform.release(),
        "cpu_model": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "ram_total_bytes": memory.get("MemTotal"),
        "ram_available_bytes": memory.get("MemAvailable"),
        "gpus": _gpus(),
        "disks": {path: _disk(places.absolute(path)) for path in args.get("paths", ())},
        "nics": _nics(),
        "thp": _chosen(_read("/sys/kernel/mm/transparent_hugepage/enabled")),
        "can_drop_caches": os.access("/proc/sys/vm/drop_caches", os.W_OK),
        "clock_wall_s": time.time(),
    }


def _read(path: str) -> Optional[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def _cpu_model() -> Optional[str]:
    found = re.search(r"^model name\s*:\s*(.+)$", _read("/proc/cpuinfo") or "", re.MULTILINE)
    return found.group(1).strip() if found else None


def _memory() -> Dict[str, int]:
    found = re.findall(r"^(\w+):\s+(\d+) kB$", _read("/proc/meminfo") or "", re.MULTILINE)
    return {name: int(kib) * 1024 for name, kib in found}


def _gpus() -> List[Dict[str, Any]]:
    command = ["nvidia-smi", "--query-gpu=" + ",".join(GPU_QUERY), "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=GPU_LIMIT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return []
    rows = (line.split(", ") for line in done.stdout.decode("utf-8", "replace").splitlines())
    return [_gpu(row) for row in rows if len(row) == len(GPU_QUERY)]


def _gpu(row: List[str]) -> Dict[str, Any]:
    index, name, uuid, memory_mib, driver = row
    return {
        "index": int(index) if index.isdigit() else None,
        "name": name,
        "uuid": uuid,
        "memory_total_bytes": int(memory_mib) << 20 if memory_mib.isdigit() else None,
        "driver_version": driver,
    }


def _disk(path: str) -> Dict[str, Any]:
    """The file system that holds a path, or would hold it once it is made."""
    while not os.path.exists(path) and path != "/":
        path = os.path.dirname(path)
    try:
        found, usage = os.stat(path), os.statvfs(path)
    except OSError:
        return {"device": None, "fstype": None, "free_bytes": None}
    device, fstype = _mount(found.st_dev)
    return {"device": device, "fstype": fstype, "free_bytes": usage.f_bavail * usage.f_frsize}


def _mount(number: int) -> Tuple[Optional[str], Optional[str]]:
    """Device and type of a mounted file system (proc(5), ``/proc/PID/mountinfo``)."""
    wanted = "%d:%d" % (os.major(number), os.minor(number))
    for line in (_read("/proc/self/mountinfo") or "").splitlines():
        left, _, right = line.partition(" - ")
        if left.split()[2] == wanted:
            fstype, device = right.split()[:2]
            return device, fstype
    return None, None


def _nics() -> List[Dict[str, Any]]:
    root = "/sys/class/net"
    try:
        names = sorted(name for name in os.listdir(root) if name != "lo")
    except OSError:
        return []
    return [{"name": name, "speed_mbit": _speed(os.path.join(root, name, "speed"))} for name in names]


def _speed(path: str) -> Optional[int]:
    # -1, or an error on reading, where the link is down or virtual.
    text = (_read(path) or "").strip()
    return int(text) if text.isdigit() and int(text) > 0 else None


def _chosen(text: Optional[str]) -> Optional[str]:
    found = re.search(r"\[(\w+)\]", text or "")
    return found.group(1) if found else None
