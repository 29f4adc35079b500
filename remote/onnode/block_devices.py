"""What kind of disk a block device is, through partitions and what is stacked upon disks (sysfs(5))."""

from __future__ import annotations

import os
from typing import List, Optional, Set, Tuple

from .kernel_text import number, read

# Of several disks the slowest kind decides.
SLOWEST_FIRST = ("network", "rotational", "unknown", "ssd", "nvme")
# Disks of virtual machines: their ``rotational`` says nothing of what is behind them.
VIRTUAL = ("vd", "xvd", "loop", "zd")
VIRTUAL_MODELS = ("QEMU", "VBOX", "Virtual disk")
REMOTE = ("rbd", "nbd", "drbd")
# Volumes of clouds that answer as NVMe and lie behind a network.
REMOTE_MODELS = ("Amazon Elastic Block Store", "nvme_card-pd", "PersistentDisk")


def number_of(device: str) -> Optional[str]:
    """``major:minor`` of a device file; None when it is none."""
    try:
        found = os.stat(device).st_rdev
    except OSError:
        return None
    return "%d:%d" % (os.major(found), os.minor(found)) if found else None


def kind(device_number: str, sys_root: str = "/sys") -> Tuple[str, List[str]]:
    """Kind and names of the disks that hold the data of a device ``major:minor``."""
    start = os.path.join(sys_root, "dev", "block", device_number)
    disks = sorted(_disks(os.path.realpath(start), set())) if os.path.exists(start) else []
    kinds = {_kind_of(path) for path in disks} or {"unknown"}
    return min(kinds, key=SLOWEST_FIRST.index), [os.path.basename(path) for path in disks]


def _disks(path: str, seen: "Set[str]") -> "Set[str]":
    if path in seen:
        return set()
    seen.add(path)
    if os.path.exists(os.path.join(path, "partition")):
        return _disks(os.path.dirname(path), seen)
    slaves = os.path.join(path, "slaves")
    try:
        below = [os.path.realpath(os.path.join(slaves, name)) for name in os.listdir(slaves)]
    except OSError:
        below = []
    if not below:
        return {path}
    result: Set[str] = set()
    for lower in below:
        result |= _disks(lower, seen)
    return result


def _kind_of(path: str) -> str:
    name = os.path.basename(path)
    model = (read(os.path.join(path, "device", "model")) or "").strip()
    if name.startswith(REMOTE) or model.startswith(REMOTE_MODELS):
        return "network"
    if name.startswith("nvme"):
        return "nvme"
    if name.startswith(VIRTUAL) or model.startswith(VIRTUAL_MODELS):
        return "unknown"
    rotational = number(os.path.join(path, "queue", "rotational"))
    return "unknown" if rotational is None else ("ssd", "rotational")[min(rotational, 1)]
