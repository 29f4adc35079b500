"""Counters of a host, from the text of files below /proc (proc(5)); what cannot be read is None."""

from __future__ import annotations

import os
from typing import Any, Dict, List, NamedTuple, Optional

# The unit of /proc/diskstats, whatever the device's own is (Linux, Documentation/admin-guide/iostats.rst).
SECTOR_BYTES = 512
MOST_DEVICES = 64


class CpuTime(NamedTuple):
    """Clock ticks of all cores since boot."""

    busy: int
    total: int
    cores: int


def bytes_of(path: str) -> Optional[bytes]:
    """What a file holds, or None when it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def text_of(path: str) -> Optional[str]:
    """The same as text."""
    data = bytes_of(path)
    return None if data is None else data.decode("utf-8", "replace")


def process_io(text: Optional[bytes]) -> Dict[str, int]:
    """Counts of /proc/PID/io (proc(5)); none when it cannot be read."""
    try:
        pairs = (line.split(b":") for line in (text or b"").splitlines())
        return {name.decode("ascii"): int(value) for name, value in pairs}
    except ValueError:
        return {}


def cpu_time(stat: Optional[str]) -> Optional[CpuTime]:
    """From /proc/stat; waiting for a disk is not busy, and a guest's time is already in its host's."""
    lines = (stat or "").splitlines()
    cores = sum(1 for line in lines if line.startswith("cpu") and line[3:4].isdecimal())
    for line in lines:
        fields = line.split()
        if fields and fields[0] == "cpu":
            ticks = _numbers(fields[1:9])
            if len(ticks) < 5:
                return None
            total = sum(ticks)
            return CpuTime(total - ticks[3] - ticks[4], total, cores)
    return None


def cpu_percent(before: Optional[CpuTime], now: Optional[CpuTime]) -> Optional[float]:
    """Share of all cores' time that was busy between two readings."""
    if before is None or now is None or now.total <= before.total or now.busy < before.busy:
        return None
    return round(100.0 * (now.busy - before.busy) / (now.total - before.total), 1)


def memory(meminfo: Optional[str]) -> Dict[str, Optional[int]]:
    """From /proc/meminfo."""
    sizes = {}
    for line in (meminfo or "").splitlines():
        name, _, rest = line.partition(":")
        numbers = _numbers(rest.split()[:1])
        if numbers:
            sizes[name] = numbers[0] * 1024
    total, free = sizes.get("SwapTotal"), sizes.get("SwapFree")
    return {
        "ram_total_bytes": sizes.get("MemTotal"),
        "ram_available_bytes": sizes.get("MemAvailable"),
        "swap_used_bytes": total - free if total is not None and free is not None else None,
    }


def nics(net_dev: Optional[str]) -> Optional[Dict[str, Dict[str, int]]]:
    """From /proc/net/dev: interfaces that have carried anything, the loopback included."""
    if net_dev is None:
        return None
    found = {}
    for line in net_dev.splitlines():
        name, colon, rest = line.rpartition(":")
        numbers = _numbers(rest.split())
        if colon and len(numbers) >= 16 and (numbers[0] or numbers[8]):
            found[name.strip()] = {"rx_bytes": numbers[0], "tx_bytes": numbers[8]}
    return _busiest(found)


def disks(diskstats: Optional[str], block: str = "/sys/block") -> Optional[Dict[str, Dict[str, int]]]:
    """From /proc/diskstats: devices that have moved anything, each byte in one of them.

    Args:
        diskstats: Its text.
        block: Directory of whole devices. A partition is no device of its own there, and what lies on top of
            other devices (LVM, RAID) names them as its slaves; where it cannot be read, all are kept.
    """
    if diskstats is None:
        return None
    whole = whole_disks(block)
    found = {}
    for line in diskstats.splitlines():
        fields = line.split()
        numbers = _numbers(fields[3:10])
        if len(numbers) == 7 and (numbers[2] or numbers[6]) and (whole is None or fields[2] in whole):
            found[fields[2]] = {
                "read_bytes": numbers[2] * SECTOR_BYTES,
                "write_bytes": numbers[6] * SECTOR_BYTES,
            }
    return _busiest(found)


def whole_disks(block: str = "/sys/block") -> Optional[List[str]]:
    """Names of the devices that lie on no other; None where the kernel does not show them."""
    try:
        names = os.listdir(block)
        return [name for name in names if not _names_in(os.path.join(block, name, "slaves"))]
    except OSError:
        return None


def _names_in(directory: str) -> List[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _busiest(found: Dict[str, Dict[str, int]]) -> Dict[str, Dict[str, int]]:
    """A host of containers may have thousands of interfaces."""
    kept = sorted(found, key=lambda name: -sum(found[name].values()))[:MOST_DEVICES]
    return {name: found[name] for name in kept}


def _numbers(fields: List[str]) -> List[int]:
    """The fields as numbers, up to the first that is none."""
    result: List[int] = []
    for field in fields:
        if not field.isdecimal():
            break
        result.append(int(field))
    return result


def sample(before: Optional[CpuTime], now: Optional[CpuTime]) -> Dict[str, Any]:
    """The host's part of a sample, read now.

    Args:
        before: Processor time at the last sample.
        now: Processor time at this one.
    """
    return {
        "cpu_percent": cpu_percent(before, now),
        "cores": now.cores if now is not None else None,
        **memory(text_of("/proc/meminfo")),
        "nics": nics(text_of("/proc/net/dev")),
        "disks": disks(text_of("/proc/diskstats")),
    }
