"""The nodes' and the store's load, from their samples; a value that is too old says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from kvtui.journal import Event
from kvtui.live.counters import TICK_S, Counters, Reading
from kvtui.live.numbers import number, whole
from kvtui.live.rates import GpuStrip, Health, NodeStrip, StoreStrip

STALE_AFTER_S = 3 * TICK_S
DEAD_AFTER_S = 15 * TICK_S
LOOPBACK = "lo"

RateOf = Callable[[str], float | None]


def health(latest_wall_s: float | None, now_wall_s: float) -> tuple[Health, float | None]:
    """Whether a value is of now, and its age once that matters."""
    if latest_wall_s is None:
        return Health.UNSEEN, None
    age_s = now_wall_s - latest_wall_s
    if age_s <= STALE_AFTER_S:
        return Health.LIVE, None
    return (Health.STALE if age_s <= DEAD_AFTER_S else Health.DEAD), age_s


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _node_counters(event: Event) -> Iterator[tuple[str, float]]:
    for kind, names in (("nics", ("rx_bytes", "tx_bytes")), ("disks", ("read_bytes", "write_bytes"))):
        for device, values in _dict(event.get(kind)).items():
            for name in names:
                value = number(_dict(values).get(name))
                if value is not None:
                    yield f"{kind}/{device}/{name}", value
    for name, raw in _dict(event.get("engine")).items():
        value = number(raw)
        if value is not None:
            yield f"engine/{name}", value


@dataclass(slots=True)
class Machine:
    """One node as its samples tell of it."""

    node: str
    counters: Counters = field(default_factory=Counters)
    sample: Event | None = None

    def take(self, event: Event) -> None:
        """Its next sample."""
        wall_s = number(event.get("wall_s"))
        if wall_s is None:
            return
        latest = self.counters.latest_wall_s
        if latest is None or wall_s > latest:
            self.sample = event
            self.counters.take(Reading(wall_s, dict(_node_counters(event))))

    def nic_rate(self, name: str, rate: RateOf, *, loopback: bool) -> float | None:
        """Rate of the busiest interface; that of the node to itself only when asked for."""
        rates = self._rates("nics", name, rate, without="" if loopback else LOOPBACK)
        return max((one for one in rates if one is not None), default=None)

    def disk_rate(self, name: str, rate: RateOf) -> float | None:
        """Rate of all disks together; unknown as soon as one is."""
        rates = list(self._rates("disks", name, rate, without=""))
        known = [one for one in rates if one is not None]
        return sum(known) if known and len(known) == len(rates) else None

    def _rates(self, kind: str, name: str, rate: RateOf, without: str) -> Iterator[float | None]:
        for key in self.counters.names():
            found_kind, _, rest = key.partition("/")
            device, _, found = rest.rpartition("/")
            if found_kind == kind and found == name and device != without:
                yield rate(key)

    def gpus(self) -> tuple[GpuStrip, ...]:
        """Its GPUs as the last sample has them."""
        return tuple(_gpus((self.sample or {}).get("gpus")))

    def strip(self, now_wall_s: float, dram_tier_bytes: int | None) -> NodeStrip:
        """Its line on the node strip."""
        state, age_s = health(self.counters.latest_wall_s, now_wall_s)
        event = self.sample or {}
        if state in (Health.DEAD, Health.UNSEEN):
            event = {}
        total, free = whole(event.get("ram_total_bytes")), whole(event.get("ram_available_bytes"))
        rate = self.counters.rate if event else _unknown
        return NodeStrip(
            node=self.node,
            health=state,
            age_s=age_s,
            cpu_percent=number(event.get("cpu_percent")),
            cores=whole(event.get("cores")),
            ram_total_bytes=total,
            ram_used_bytes=None if total is None or free is None else max(0, total - free),
            dram_tier_bytes=dram_tier_bytes,
            engine_rss_bytes=whole(_dict(event.get("engine")).get("rss_bytes")),
            swap_used_bytes=whole(event.get("swap_used_bytes")),
            nic_rx_bytes_s=self.nic_rate("rx_bytes", rate, loopback=False),
            nic_tx_bytes_s=self.nic_rate("tx_bytes", rate, loopback=False),
            disk_read_bytes_s=self.disk_rate("read_bytes", rate),
            disk_write_bytes_s=self.disk_rate("write_bytes", rate),
            gpus=tuple(_gpus(event.get("gpus"))),
        )


def _unknown(name: str) -> float | None:
    return None


def _gpus(found: Any) -> Iterator[GpuStrip]:
    for gpu in found if isinstance(found, list) else ():
        index = whole(_dict(gpu).get("index"))
        if index is not None:
            yield GpuStrip(
                index=index,
                utilisation_percent=number(gpu.get("utilisation_percent")),
                memory_used_bytes=whole(gpu.get("memory_used_bytes")),
                memory_total_bytes=whole(gpu.get("memory_total_bytes")),
                throttle=str(gpu.get("throttle") or ""),
            )


@dataclass(slots=True)
class StoreMachine:
    """The store as its samples tell of it."""

    counters: Counters = field(default_factory=Counters)
    sample: Event | None = None
    first_evicted: float | None = None

    def take(self, event: Event) -> None:
        """Its next sample."""
        wall_s = number(event.get("wall_s"))
        latest = self.counters.latest_wall_s
        if wall_s is None or (latest is not None and wall_s <= latest):
            return
        names = ("net_in_bytes", "net_out_bytes", "evicted_keys", "get_calls", "set_calls")
        found = {name: value for name in names if (value := number(event.get(name))) is not None}
        evicted = found.get("evicted_keys")
        if evicted is not None and (self.first_evicted is None or evicted < self.first_evicted):
            self.first_evicted = evicted
        self.sample = event
        self.counters.take(Reading(wall_s, found))

    def strip(self, now_wall_s: float) -> StoreStrip:
        """Its line on the node strip."""
        state, age_s = health(self.counters.latest_wall_s, now_wall_s)
        event = self.sample or {}
        if state in (Health.DEAD, Health.UNSEEN):
            event = {}
        evicted = number(event.get("evicted_keys"))
        known = evicted is not None and self.first_evicted is not None
        return StoreStrip(
            health=state,
            age_s=age_s,
            used_bytes=whole(event.get("used_memory_bytes")),
            limit_bytes=whole(event.get("maxmemory_bytes")) or None,
            keys=whole(event.get("keys")),
            evicted=int((evicted or 0) - (self.first_evicted or 0)) if known else None,
            net_in_bytes_s=self.counters.rate("net_in_bytes") if event else None,
            net_out_bytes_s=self.counters.rate("net_out_bytes") if event else None,
        )
