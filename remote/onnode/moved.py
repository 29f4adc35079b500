"""What moved on this machine while a request was served, by counts that know nothing of LMCache.

They are read right before a request's connection is opened and right after its last message, so outside its
times. Each is of everything that happened in between.
"""

from __future__ import annotations

import os
import time
from typing import Any, Dict, List, Mapping, Optional

from . import counters, procfs
from .record import Record
from .store_sockets import StoreSockets

LOOPBACK = b"lo"
PART_BYTES = 1 << 16
Parts = Optional[Mapping[str, int]]


class Moved:
    """Reads the counts for one engine.

    Args:
        engine_dir: Directory of the engine's process; its processes are looked for once.
        store_port: Port of the store, where the engine uses one.
    """

    def __init__(self, engine_dir: str, store_port: Optional[int]) -> None:
        self._pids = _members(engine_dir)
        self._ios = {pid: KernelFile("/proc/%d/io" % pid) for pid in self._pids}
        self._net, self._diskstats = KernelFile("/proc/net/dev"), KernelFile("/proc/diskstats")
        self._disks = frozenset(name.encode() for name in counters.whole_disks() or ())
        self._sockets = StoreSockets(self._pids, store_port) if store_port else None

    def read(self) -> Dict[str, Any]:
        """The counts now, each by its parts (a process, an interface, a disk, a connection), and the time."""
        began_ns = time.perf_counter_ns()
        ios = {pid: counters.process_io(file.read()) for pid, file in self._ios.items()}
        interfaces = received(self._net.read())
        parts = {
            "engine_read_bytes": _of_all(ios, "read_bytes"),
            "engine_rchar_bytes": _of_all(ios, "rchar"),
            "store_rx_bytes": self._sockets.read() if self._sockets else None,
            "nic_rx_bytes": _only(interfaces, loopback=False),
            "loopback_rx_bytes": _only(interfaces, loopback=True),
            "disk_read_bytes": disk_reads(self._diskstats.read(), self._disks),
        }
        return {"parts": parts, "took_ms": (time.perf_counter_ns() - began_ns) / 1e6}


class KernelFile:
    """A file of /proc that is read again and again; opening it each time would take as long as reading."""

    def __init__(self, path: str) -> None:
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._descriptor = -1

    def read(self) -> Optional[bytes]:
        """What it holds now; None when it cannot be read, as one of a process that is gone."""
        whole = b""
        try:
            while True:  # the kernel gives a page at a time
                part = os.pread(self._descriptor, PART_BYTES, len(whole))
                if not part:
                    return whole
                whole += part
        except OSError:
            return None

    def __del__(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)


def between(before: Mapping[str, Any], after: Mapping[str, Any]) -> Dict[str, Any]:
    """By how much each count grew, and what the two readings took."""
    old, new = before["parts"], after["parts"]
    result: Dict[str, Any] = {name: grown(old.get(name), new[name]) for name in new}
    result["took_ms"] = round(before["took_ms"] + after["took_ms"], 3)
    return result


def grown(before: Parts, after: Parts) -> Optional[int]:
    """Growth of a count over its parts: one that is new counts whole.

    None when the count is unknown, began anew, or has lost a part with what came through it meanwhile.
    """
    if before is None or after is None:
        return None
    if any(after.get(part, -1) < value for part, value in before.items()):
        return None
    return sum(after.values()) - sum(before.values())


def received(net_dev: Optional[bytes]) -> Optional[Dict[bytes, int]]:
    """Bytes that each interface of /proc/net/dev received."""
    if net_dev is None:
        return None
    found = {}
    for line in net_dev.splitlines()[2:]:
        name, _, rest = line.rpartition(b":")
        numbers = rest.split(None, 1)
        if numbers and numbers[0].isdigit():
            found[name.strip()] = int(numbers[0])
    return found


def disk_reads(diskstats: Optional[bytes], names: "frozenset[bytes]") -> Optional[Dict[str, int]]:
    """Bytes read from each of the named disks, from /proc/diskstats; None where it shows none of them."""
    found = {}
    for line in (diskstats or b"").splitlines():
        fields = line.split(None, 6)
        if len(fields) == 7 and fields[2] in names and fields[5].isdigit():
            found[fields[2].decode("utf-8", "replace")] = int(fields[5]) * counters.SECTOR_BYTES
    return found or None


def _members(engine_dir: str) -> List[int]:
    if not engine_dir:
        return []
    record = Record(engine_dir)
    state = record.state()
    if state is None or not record.process_lives(state):
        return []
    return [one.pid for one in procfs.group(state["pgid"], state["start_ticks"])]


def _of_all(ios: Mapping[int, Mapping[str, int]], name: str) -> Optional[Dict[str, int]]:
    """A count of every process; None when one of them does not tell it, or is gone."""
    found = {str(pid): io[name] for pid, io in ios.items() if name in io}
    return found if found and len(found) == len(ios) else None


def _only(interfaces: Optional[Mapping[bytes, int]], loopback: bool) -> Optional[Dict[str, int]]:
    if interfaces is None:
        return None
    kept = {name: size for name, size in interfaces.items() if (name == LOOPBACK) == loopback}
    return {name.decode("utf-8", "replace"): size for name, size in kept.items()}
