"""GPUs of this machine, by nvidia-smi, and who else holds their memory."""

from __future__ import annotations

import os
import subprocess
from typing import Any, Callable, Dict, List, Optional

from . import places, procfs

GPU_QUERY = (
    "index",
    "uuid",
    "memory.total",
    "memory.used",
    "utilization.gpu",
    "driver_version",
    "name",
)
# A name may hold the separator, so it comes last.
PROCESS_QUERY = ("gpu_uuid", "pid", "used_memory", "process_name")
LIMIT_S = 20
NONE_THERE = "No devices were found"
DRIVER = "/proc/driver/nvidia/gpus"

Ask = Callable[[str], Optional[List[str]]]


def gpus(ask: "Optional[Ask]" = None) -> Optional[List[Dict[str, Any]]]:
    """Every GPU; empty where there is none, None where it cannot be known."""
    ask = ask or _nvidia_smi
    lines = ask("--query-gpu=" + ",".join(GPU_QUERY))
    if lines is None:
        return None
    rows = (line.split(", ", len(GPU_QUERY) - 1) for line in lines)
    found = [_gpu(row) for row in rows if len(row) == len(GPU_QUERY)]
    holders = ask("--query-compute-apps=" + ",".join(PROCESS_QUERY)) if found else None
    for gpu in found:
        gpu["foreign"] = None if holders is None else _foreign(holders, gpu["uuid"])
    return found


def _gpu(row: List[str]) -> Dict[str, Any]:
    index, uuid, total, used, utilisation, driver, name = row
    return {
        "index": _whole(index),
        "name": name,
        "uuid": uuid,
        "memory_total_bytes": _mib(total),
        "memory_used_bytes": _mib(used),
        "utilisation_percent": _whole(utilisation),
        "driver_version": driver,
    }


def _foreign(lines: List[str], uuid: str) -> List[Dict[str, Any]]:
    rows = (line.split(", ", len(PROCESS_QUERY) - 1) for line in lines)
    held = [
        row[1:] for row in rows if len(row) == len(PROCESS_QUERY) and row[0] == uuid and row[1].isdecimal()
    ]
    return [
        {"pid": int(pid), "name": name, "memory_bytes": _mib(memory)}
        for pid, memory, name in held
        if not _is_own(int(pid))
    ]


def _is_own(pid: int) -> bool:
    """Whether kvtui started the process, from this very home directory."""
    values = procfs.environ(pid) or {}
    return "KVTUI_RUN" in values and values.get("KVTUI_HOME") == places.home()


def _whole(text: str) -> Optional[int]:
    # ``[N/A]`` and ``[Not Supported]`` are unknown.
    return int(text) if text.isdecimal() else None


def _mib(text: str) -> Optional[int]:
    return int(text) << 20 if text.isdecimal() else None


def _nvidia_smi(query: str) -> Optional[List[str]]:
    command = ["nvidia-smi", query, "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S)
    except FileNotFoundError:
        # A container may show the driver's GPUs without its program.
        return None if os.path.isdir(DRIVER) else []
    except (OSError, subprocess.SubprocessError):
        return None
    text = done.stdout.decode("utf-8", "replace")
    if NONE_THERE in text:
        return []
    return None if done.returncode else text.splitlines()
