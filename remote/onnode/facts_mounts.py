"""Mounted file systems of this machine, and what their data lies on."""

from __future__ import annotations

import os
import re
import threading
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import block_devices
from .kernel_text import read

TABLE = "/proc/self/mountinfo"
MOST = 100
# A server that is gone keeps whoever asks for its file system waiting for ever.
PATIENCE_S = 2.0
NETWORK = re.compile(
    r"^(nfs4?|cifs|smb3|smbfs|ceph|lustre|gpfs|beegfs|glusterfs|afs|9p|virtiofs|"
    r"fuse\.(sshfs|glusterfs|ceph|gcsfuse|s3fs|juicefs|weka\w*|nfs\w*))$"
)
MEMORY = ("tmpfs", "ramfs")
# What holds no data, or only what was packed into it beforehand.
DATALESS = ("squashfs", "iso9660", "erofs", "devtmpfs")
# Mounts of the system and of containers, which nobody would name as a tier.
INNER = ("/run", "/sys", "/proc", "/dev", "/var/lib")
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - looked for, not written to


class Mount(NamedTuple):
    """A line of ``/proc/self/mountinfo`` (proc(5))."""

    number: str
    path: str
    fstype: str
    device: str


def parse(table: str) -> List[Mount]:
    """The mounts in the text of ``/proc/self/mountinfo``."""
    result = []
    for line in table.splitlines():
        left, _, right = line.partition(" - ")
        before, after = left.split(" "), right.split(" ")
        if len(before) > 4 and len(after) > 1:
            result.append(Mount(before[2], _plain(before[4]), after[0], _plain(after[1])))
    return result


def mounts(table: Optional[str] = None, sys_root: str = "/sys") -> Optional[List[Dict[str, Any]]]:
    """Every mount that could hold data; None where the kernel shows none."""
    text = read(TABLE) if table is None else table
    if text is None:
        return None
    # What is mounted on a place hides what was mounted there before.
    seen = {mount.path: mount for mount in parse(text)}
    wanted = [mount for mount in seen.values() if _may_hold_data(mount)][:MOST]
    found = [_described(mount, sys_root) for mount in wanted]
    return [mount for mount in found if mount is not None]


def disk(path: str) -> Dict[str, Any]:
    """The file system that holds a path, or would hold it once it is made."""
    while not os.path.exists(path) and path != "/":
        path = os.path.dirname(path)
    try:
        found, usage = os.stat(path), os.statvfs(path)
    except OSError:
        return {"device": None, "fstype": None, "free_bytes": None}
    wanted = "%d:%d" % (os.major(found.st_dev), os.minor(found.st_dev))
    holding = [mount for mount in parse(read(TABLE) or "") if mount.number == wanted]
    return {
        "device": holding[0].device if holding else None,
        "fstype": holding[0].fstype if holding else None,
        "free_bytes": usage.f_bavail * usage.f_frsize,
    }


def _plain(field: str) -> str:
    """The field without the octal escapes of blanks and backslashes."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found.group(1), 8)), field)


def _may_hold_data(mount: Mount) -> bool:
    if mount.fstype in DATALESS:
        return False
    if NETWORK.match(mount.fstype):
        return True
    if mount.fstype in MEMORY or mount.fstype == "overlay":
        return mount.path == SHARED_MEMORY or not (mount.path + "/").startswith(
            tuple(inner + "/" for inner in INNER)
        )
    # The others without a device are the kernel's own: proc, sysfs, cgroup.
    return mount.device.startswith("/dev/") or mount.fstype == "zfs"


def _described(mount: Mount, sys_root: str) -> Optional[Dict[str, Any]]:
    kind, disks = _kind(mount, sys_root)
    answered, is_dir, size, free = _usage(mount.path)
    if answered and not is_dir:
        return None  # a single file that a container was given
    return {
        "path": mount.path,
        "device": mount.device,
        "fstype": mount.fstype,
        "kind": kind,
        "disks": disks,
        "size_bytes": size,
        "free_bytes": free,
    }


def _kind(mount: Mount, sys_root: str) -> Tuple[str, List[str]]:
    if NETWORK.match(mount.fstype):
        return "network", []
    if mount.fstype in MEMORY:
        return "memory", []
    if mount.fstype == "overlay":
        return "overlay", []
    number = mount.number
    if number.startswith("0:"):
        # Such as btrfs, which shows a number of its own instead of its disk's.
        number = block_devices.number_of(mount.device) or number
    return block_devices.kind(number, sys_root)


def _usage(path: str) -> Tuple[bool, bool, Optional[int], Optional[int]]:
    """Whether the file system answered, whether it is a directory, its size and what is free."""
    found: List[Tuple[bool, Optional[int], Optional[int]]] = []

    def ask() -> None:
        try:
            usage = os.statvfs(path)
        except OSError:
            found.append((True, None, None))
        else:
            blocks = usage.f_frsize
            found.append((os.path.isdir(path), usage.f_blocks * blocks, usage.f_bavail * blocks))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    return (True, *found[0]) if found else (False, True, None, None)
