"""Processor, NUMA, and whether this is a container."""

from __future__ import annotations

import os
import re
from typing import Optional

from .kernel_text import read

CONTAINER_FILES = ("/.dockerenv", "/run/.containerenv", "/run/systemd/container")
CONTAINER_GROUPS = re.compile(r"docker|kubepods|containerd|/lxc|libpod")


def cpu_model() -> Optional[str]:
    """The processor's name; None where /proc/cpuinfo has none, as on many ARM machines."""
    found = re.search(r"^model name\s*:\s*(.+)$", read("/proc/cpuinfo") or "", re.MULTILINE)
    return found.group(1).strip() if found else None


def numa_nodes() -> Optional[int]:
    """How many NUMA nodes are online."""
    return count_of(read("/sys/devices/system/node/online") or "")


def count_of(ranges: str) -> Optional[int]:
    """How many numbers a list such as ``0-3,8`` names; None where it is none."""
    total = 0
    for part in ranges.strip().split(","):
        low, _, high = part.partition("-")
        if not low.isdecimal() or not (high or low).isdecimal():
            return None
        total += int(high or low) - int(low) + 1
    return total


def in_container() -> Optional[bool]:
    """Whether this is a container; None where the kernel shows no control groups."""
    if any(os.path.exists(path) for path in CONTAINER_FILES):
        return True
    groups = read("/proc/1/cgroup")
    return None if groups is None else CONTAINER_GROUPS.search(groups) is not None
