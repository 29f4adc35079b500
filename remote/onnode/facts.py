"""What kind of machine this is. What cannot be found out is null."""

from __future__ import annotations

import os
import platform
import socket
import time
from typing import Any, Dict

from . import facts_gpus, facts_memory, facts_mounts, facts_nics, facts_processes, facts_system, places


def facts(args: Dict[str, Any]) -> Dict[str, Any]:
    """The machine, and the disks below the given ``paths``."""
    memory = facts_memory.memory()
    return {
        "python": platform.python_version(),
        "hostname": socket.gethostname(),
        "kernel": platform.release(),
        "cpu_model": facts_system.cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "numa_nodes": facts_system.numa_nodes(),
        "ram_total_bytes": memory.get("MemTotal"),
        "ram_available_bytes": memory.get("MemAvailable"),
        "swap_used_bytes": facts_memory.swap_used(memory),
        "gpus": facts_gpus.gpus(),
        "disks": {path: facts_mounts.disk(places.absolute(path)) for path in args.get("paths", ())},
        "mounts": facts_mounts.mounts(),
        "nics": facts_nics.nics(),
        "listeners": facts_processes.listeners(),
        "thp": facts_memory.huge_pages(),
        "can_drop_caches": os.access("/proc/sys/vm/drop_caches", os.W_OK),
        "in_container": facts_system.in_container(),
        "clock_wall_s": time.time(),
    }
