"""The load of nodes and store, and what it was while each pass went on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kvtui.journal import Event
from kvtui.live.counters import Window
from kvtui.live.judgement import NodeTroubles
from kvtui.live.machines import Machine, RateOf, StoreMachine, health
from kvtui.live.numbers import number
from kvtui.live.rates import Health, NodeStrip, StoreStrip
from kvtui.live.sources import PassSource
from kvtui.live.throughput import Rates
from kvtui.plan import Plan
from kvtui.samples import Pass


@dataclass(frozen=True, slots=True)
class PassWindows:
    """What the counters did around one pass."""

    node: Window
    store: Window


class Load:
    """Takes samples of nodes and store, and follows passes with them."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._machines: dict[str, Machine] = {}
        self._windows: dict[PassSource, PassWindows] = {}
        self.store = StoreMachine()
        self.troubles: dict[str, NodeTroubles] = {}

    def take_node(self, event: Event) -> None:
        """A sample of a node."""
        node = event["src"].partition(":")[0]
        machine = self._machine(node)
        machine.take(event)
        wall_s = number(event.get("wall_s"))
        if wall_s is not None:
            throttles = tuple(gpu.throttle for gpu in machine.gpus())
            troubles = self.troubles.setdefault(node, NodeTroubles(node))
            troubles.take(wall_s, number(event.get("swap_used_bytes")), throttles)
            available, total = (number(event.get(f"ram_{what}_bytes")) for what in ("available", "total"))
            troubles.memory.take(wall_s, available, total)

    def begin_pass(self, source: PassSource, event: Event) -> None:
        """Follow a pass from here on."""
        wall_s = number(event.get("wall_s"))
        if wall_s is not None and source.step in (Pass.COLD, Pass.CACHED):
            node = self._machine(source.node).counters.window(wall_s)
            self._windows[source] = PassWindows(node, self.store.counters.window(wall_s))

    def end_pass(self, source: PassSource, event: Event) -> None:
        """A pass is over; the next readings are the last that count."""
        windows, wall_s = self._windows.get(source), number(event.get("wall_s"))
        if windows is not None and wall_s is not None:
            windows.node.end_wall_s = windows.store.end_wall_s = wall_s

    def window(self, source: PassSource) -> PassWindows | None:
        """What the counters did around a pass."""
        return self._windows.get(source)

    def rates(self, source: PassSource, now_wall_s: float, *, live: bool) -> Rates:
        """Rates of the machines: of now while a pass goes on, else the means over it."""
        windows, machine = self._windows.get(source), self._machine(source.node)
        node_state, node_age_s = health(machine.counters.latest_wall_s, now_wall_s)
        store_state, store_age_s = health(self.store.counters.latest_wall_s, now_wall_s)
        of_node: RateOf = machine.counters.rate
        of_store: RateOf = self.store.counters.rate
        gone = (Health.DEAD, Health.UNSEEN)
        if not live:
            of_node = windows.node.rate if windows else _unknown
            of_store = windows.store.rate if windows else _unknown
            node_age_s = store_age_s = None
        else:
            of_node = _unknown if node_state in gone else of_node
            of_store = _unknown if store_state in gone else of_store
        near = self._plan.lab or (self._plan.store is not None and self._plan.store.node == source.node)
        return Rates(
            node=source.node,
            nic_rx=machine.nic_rate("rx_bytes", of_node, loopback=near),
            nic_tx=machine.nic_rate("tx_bytes", of_node, loopback=near),
            disk_read=machine.disk_rate("read_bytes", of_node),
            disk_write=machine.disk_rate("write_bytes", of_node),
            store_in=of_store("net_in_bytes"),
            store_out=of_store("net_out_bytes"),
            node_age_s=node_age_s,
            store_age_s=store_age_s,
            device_bytes=windows.node.grown("engine/read_bytes") if windows else None,
        )

    def node_strips(
        self, now_wall_s: float, dram_tier_bytes: Callable[[str], int | None]
    ) -> tuple[NodeStrip, ...]:
        """The nodes of the plan, then any other that was seen."""
        names = list(self._plan.engine_nodes)
        if self._plan.store is not None:
            names.append(self._plan.store.node)
        names += sorted(self._machines)
        return tuple(
            self._machine(name).strip(now_wall_s, dram_tier_bytes(name)) for name in dict.fromkeys(names)
        )

    def store_strip(self, now_wall_s: float) -> StoreStrip | None:
        """The store, when the plan has one or one was seen."""
        seen = self._plan.needs_store or self.store.sample is not None
        return self.store.strip(now_wall_s) if seen else None

    def _machine(self, node: str) -> Machine:
        return self._machines.setdefault(node, Machine(node))


def _unknown(name: str) -> float | None:
    return None
