"""Rates and loads as a screen shows them; rates and ceilings are bytes a second, sizes bytes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Gauge:
    """One rate against its ceiling.

    Attributes:
        name: ``retrieve``, ``store``, ``NIC rx``, ``NIC tx``, ``disk read``, ``disk write``,
            ``store net in`` and ``store net out``.
        node: Where it was seen, or empty.
        rate_bytes_s: The rate.
        ceiling_bytes_s: The best that was measured before the run.
        share: Rate ÷ ceiling.
        age_s: Age of the rate when it is older than three ticks, else ``None``.
    """

    name: str
    node: str
    rate_bytes_s: float | None
    ceiling_bytes_s: float | None
    share: float | None
    age_s: float | None


@dataclass(frozen=True, slots=True)
class Throughput:
    """All gauges, and what they say together.

    Attributes:
        gauges: In a fixed order.
        verdict: The conclusion in a sentence, or empty.
        floor: The floor of a cached TTFT against what was seen, in a sentence, or empty.
    """

    gauges: tuple[Gauge, ...]
    verdict: str
    floor: str


class Health(StrEnum):
    """Whether values of a node are of now."""

    LIVE = "live"
    STALE = "stale"
    DEAD = "dead"
    UNSEEN = "unseen"


@dataclass(frozen=True, slots=True)
class GpuStrip:
    """One GPU of a node."""

    index: int
    utilisation_percent: float | None
    memory_used_bytes: int | None
    memory_total_bytes: int | None
    throttle: str


@dataclass(frozen=True, slots=True)
class NodeStrip:
    """One node's load; every value is ``None`` when the node is dead or was never seen.

    Attributes:
        node: Its name.
        health: Whether the values are of now.
        age_s: Age of the last sample when it is older than three ticks.
        cpu_percent: Of all its cores together, 0 to 100.
        cores: How many.
        ram_total_bytes: Its memory.
        ram_used_bytes: Total less available.
        dram_tier_bytes: The part that the DRAM tier of the step under way reserves by the plan.
        engine_rss_bytes: Resident memory of the engine.
        swap_used_bytes: Swap in use.
        nic_rx_bytes_s: Busiest network interface, in.
        nic_tx_bytes_s: The same interface, out.
        disk_read_bytes_s: All disks together.
        disk_write_bytes_s: Likewise.
        gpus: Its GPUs.
    """

    node: str
    health: Health
    age_s: float | None
    cpu_percent: float | None
    cores: int | None
    ram_total_bytes: int | None
    ram_used_bytes: int | None
    dram_tier_bytes: int | None
    engine_rss_bytes: int | None
    swap_used_bytes: int | None
    nic_rx_bytes_s: float | None
    nic_tx_bytes_s: float | None
    disk_read_bytes_s: float | None
    disk_write_bytes_s: float | None
    gpus: tuple[GpuStrip, ...]


@dataclass(frozen=True, slots=True)
class StoreStrip:
    """The store's load.

    Attributes:
        health: Whether the values are of now.
        age_s: Age of the last sample when it is older than three ticks.
        used_bytes: Memory in use.
        limit_bytes: ``maxmemory``; ``None`` without a limit.
        keys: Keys in it, whoever wrote them.
        evicted: Keys evicted since the first sample of this run.
        net_in_bytes_s: Into the server.
        net_out_bytes_s: Out of it.
    """

    health: Health
    age_s: float | None
    used_bytes: int | None
    limit_bytes: int | None
    keys: int | None
    evicted: int | None
    net_in_bytes_s: float | None
    net_out_bytes_s: float | None
