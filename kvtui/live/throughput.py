"""Rates against the ceilings that were measured, and what they say together.

LMCache's ``Retrieved … throughput`` holds the read from the tier and the copy into the engine, so it is set
against the path it took. Its ``Stored … throughput`` ends in DRAM, before any disk or store (LMCache 0.5.4
``v1/cache_engine.py``), so it has no ceiling here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kvtui.ceilings import Ceiling, What, best
from kvtui.live.rates import Gauge, Throughput
from kvtui.plan import TierKind

# At this part of its ceiling a path is the limit; below the other one something else is.
AT_CEILING = 0.8
FAR_BELOW = 0.5
# Ceilings are medians of repeats that spread by several per cent.
ABOVE_CEILING = 1.1
# The kernel reads ahead and LMCache reads whole files: less than this part was not read from the device.
FROM_DEVICE = 0.5

_PATHS: dict[TierKind, tuple[What, str]] = {
    TierKind.DRAM: ("memory", "memory path"),
    TierKind.DISK: ("disk-read", "disk path"),
    TierKind.VALKEY: ("network", "network path"),
}


@dataclass(frozen=True, slots=True)
class Rates:
    """What was seen while the shown pass went on, in bytes a second.

    Attributes:
        node: The node that serves the pass.
        retrieve: LMCache's reads.
        store: LMCache's taking over.
        nic_rx: Network of the node, in.
        nic_tx: Network of the node, out.
        disk_read: Its disks.
        disk_write: Its disks.
        store_in: Network of the store, in.
        store_out: Network of the store, out.
        node_age_s: Age of the node's values once they are too old.
        store_age_s: Age of the store's values.
        retrieved_bytes: What LMCache said to have read in this pass; ``None`` when not known.
        device_bytes: What the engine's process read from a device meanwhile (``read_bytes`` of
            ``/proc/PID/io``); the page cache is not in it.
    """

    node: str
    retrieve: float | None = None
    store: float | None = None
    nic_rx: float | None = None
    nic_tx: float | None = None
    disk_read: float | None = None
    disk_write: float | None = None
    store_in: float | None = None
    store_out: float | None = None
    node_age_s: float | None = None
    store_age_s: float | None = None
    retrieved_bytes: float | None = None
    device_bytes: float | None = None

    def with_lmcache(
        self,
        retrieve: float | None,
        store: float | None,
        retrieved_bytes: float | None,
        *,
        in_cached_pass: bool,
    ) -> Rates:
        """The same with LMCache's own figures; what a device gave counts against cached reads alone."""
        return replace(
            self,
            retrieve=retrieve,
            store=store,
            retrieved_bytes=retrieved_bytes if in_cached_pass else None,
            device_bytes=self.device_bytes if in_cached_pass else None,
        )


def path_ceiling(kind: TierKind, ceilings: Sequence[Ceiling], node: str) -> Ceiling | None:
    """The best that was measured of the path of a tier's reads."""
    path = _PATHS.get(kind)
    return best(ceilings, node, path[0]) if path else None


def throughput(
    kind: TierKind,
    rates: Rates,
    ceilings: Sequence[Ceiling],
    floor_ms: float | None,
    cached_ms: float | None,
) -> Throughput:
    """The gauges of the shown tier and their conclusion."""
    node = rates.node
    path = path_ceiling(kind, ceilings, node)
    network, read = best(ceilings, node, "network"), best(ceilings, node, "disk-read")
    write = best(ceilings, node, "disk-write")
    age_s, store_age_s = rates.node_age_s, rates.store_age_s
    gauges = (
        _gauge("retrieve", node, rates.retrieve, path, None),
        _gauge("store", node, rates.store, None, None),
        _gauge("NIC rx", node, rates.nic_rx, network, age_s),
        _gauge("NIC tx", node, rates.nic_tx, None, age_s),
        _gauge("disk read", node, rates.disk_read, read, age_s),
        _gauge("disk write", node, rates.disk_write, write, age_s),
        _gauge("store net in", "", rates.store_in, None, store_age_s),
        _gauge("store net out", "", rates.store_out, None, store_age_s),
    )
    return Throughput(gauges, verdict(kind, rates, path), floor_sentence(floor_ms, cached_ms))


def _gauge(name: str, node: str, rate: float | None, ceiling: Ceiling | None, age_s: float | None) -> Gauge:
    limit = ceiling.bytes_s if ceiling is not None and ceiling.bytes_s > 0 else None
    share = rate / limit if rate is not None and limit is not None else None
    return Gauge(name, node, rate, limit, share, age_s)


def verdict(kind: TierKind, rates: Rates, path: Ceiling | None) -> str:
    """What limits the reads of this tier, in a sentence; empty while nothing was read.

    A rate above the best ceiling proves no warm page cache: another way of reading may be faster than those
    that were measured. What the engine's process read from the device does.
    """
    if kind not in _PATHS or rates.retrieve is None:
        return ""
    name = _PATHS[kind][1]
    cached = page_cache_sentence(kind, rates.retrieved_bytes, rates.device_bytes)
    if cached:
        return cached
    if path is None or path.bytes_s <= 0:
        return f"The {name} has no measured ceiling to compare with."
    share = rates.retrieve / path.bytes_s
    percent = f"{share * 100:.0f} %"
    if share > ABOVE_CEILING:
        if kind is TierKind.DISK and rates.device_bytes is None:
            return f"The {name} is at {percent} of its ceiling; whether the page cache helped is not known."
        return f"The {name} is at {percent} of its ceiling: this way of reading was not measured."
    if share < FAR_BELOW:
        return f"The {name} is at {percent} of its ceiling: the software is the limit, not the device."
    ending = ": it is the limit." if share >= AT_CEILING else "."
    return f"The {name} is at {percent} of its ceiling{ending}"


def page_cache_sentence(kind: TierKind, got: float | None, device: float | None) -> str:
    """That a disk tier's reads did not come from the device, or empty.

    Args:
        kind: Kind of the tier.
        got: Bytes that LMCache said to have read.
        device: Bytes that the engine's process read from a device meanwhile.
    """
    if kind is not TierKind.DISK or not got or device is None or device >= got * FROM_DEVICE:
        return ""
    return (
        f"Faster than the device can: page cache. LMCache read {got / 1e9:,.2f} GB, "
        f"the device gave {device / 1e9:,.2f} GB."
    )


def floor_ms(document_bytes: int | None, path: Ceiling | None) -> float | None:
    """Bytes ÷ ceiling: no cached TTFT can be shorter when the bytes come that way."""
    if document_bytes is None or path is None or path.bytes_s <= 0:
        return None
    return path.floor_s(document_bytes) * 1000


def floor_words(document_bytes: int | None, path: Ceiling | None) -> str:
    """What the floor is made of, or empty."""
    if floor_ms(document_bytes, path) is None or document_bytes is None or path is None:
        return ""
    return f"{document_bytes / 1024**2:,.0f} MiB ÷ {path.bytes_s / 1024**3:.2f} GiB/s ({path.how})"


def floor_sentence(floor: float | None, cached_ms: float | None) -> str:
    """The floor of a cached TTFT beside what was seen."""
    if floor is None:
        return ""
    seen = "" if cached_ms is None else f", seen {_ms(cached_ms)}"
    return f"Floor of a cached TTFT {_ms(floor)}{seen}"


def _ms(value: float) -> str:
    return f"{value:,.1f} ms" if value < 100 else f"{value:,.0f} ms"
