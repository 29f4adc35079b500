"""The nodes and the store in a line each: use of GPUs, memory, network and disks."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from kvtui.live.rates import GpuStrip, Health, NodeStrip, StoreStrip
from kvtui.live.view import LiveView
from kvtui.loglines import clean
from kvtui.units import DASH
from screens.figures import gb_s, gib, span
from screens.widgets.live.panel import Panel, lines

Piece = str | tuple[str, str]
_NAME = 12


def gpu_use(gpus: Sequence[GpuStrip]) -> tuple[float | None, int | None, int | None]:
    """Mean use in percent, memory used and total in bytes, over the GPUs for which they are known."""
    use = [gpu.utilisation_percent for gpu in gpus if gpu.utilisation_percent is not None]
    used = [gpu.memory_used_bytes for gpu in gpus if gpu.memory_used_bytes is not None]
    total = [gpu.memory_total_bytes for gpu in gpus if gpu.memory_total_bytes is not None]
    return (
        sum(use) / len(use) if use else None,
        sum(used) if used else None,
        sum(total) if total else None,
    )


def name_of(name: str, health: Health, width: int) -> list[Piece]:
    """Sign and name."""
    sign, style = {
        Health.LIVE: ("●", "$success"),
        Health.STALE: ("!", "$warning"),
        Health.DEAD: ("✗", "$error"),
        Health.UNSEEN: ("·", "$muted"),
    }[health]
    return [(f"{sign} ", style), f"{clean(name)[:width]:<{width}}  "]


def state_of(health: Health, age_s: float | None) -> list[Piece]:
    if health is Health.STALE:
        return [(f"{span(age_s)} old  ", "$warning")]
    if health is Health.DEAD:
        return [(f"{DASH}  no answer", "$error")]
    return [(f"{DASH}  not heard of yet", "$muted")] if health is Health.UNSEEN else []


def node_line(node: NodeStrip, name: int) -> Content:
    """One node."""
    use, used, total = gpu_use(node.gpus)
    pieces: list[Piece] = [*name_of(node.node, node.health, name), *state_of(node.health, node.age_s)]
    if node.health in (Health.DEAD, Health.UNSEEN):
        return Content.assemble(*pieces)
    if node.gpus:
        many = f"{len(node.gpus)}×" if len(node.gpus) > 1 else ""
        pieces += [(f"{many}GPU ", "$muted"), f"{percent_of(use):>3}", (" %  ", "$muted"), f"{gib(used):>5}"]
        pieces += [("/", "$muted"), f"{gib(total)}   "]
        if throttles := {clean(gpu.throttle) for gpu in node.gpus if gpu.throttle}:
            pieces += [(f"! {', '.join(sorted(throttles))}", "$warning"), "   "]
    pieces += [("cpu ", "$muted"), f"{percent_of(node.cpu_percent):>3}", (" %   ", "$muted")]
    pieces += [("host ", "$muted"), f"{gib(node.ram_used_bytes):>5}", ("/", "$muted")]
    pieces += [gib(node.ram_total_bytes)]
    if node.dram_tier_bytes:
        pieces += [(" tier ", "$muted"), gib(node.dram_tier_bytes)]
    if node.swap_used_bytes:
        pieces += [(f"  ! swap {gib(node.swap_used_bytes)}", "$warning")]
    pieces += [("   net ↓ ", "$muted"), f"{gb_s(node.nic_rx_bytes_s):>5}", (" ↑ ", "$muted")]
    pieces += [f"{gb_s(node.nic_tx_bytes_s):>5}", ("   disk rd ", "$muted")]
    pieces += [
        f"{gb_s(node.disk_read_bytes_s):>5}",
        (" wr ", "$muted"),
        f"{gb_s(node.disk_write_bytes_s):>5}",
    ]
    return Content.assemble(*pieces)


def store_line(store: StoreStrip, name: int) -> Content:
    """The store."""
    pieces: list[Piece] = [*name_of("store", store.health, name), *state_of(store.health, store.age_s)]
    if store.health in (Health.DEAD, Health.UNSEEN):
        return Content.assemble(*pieces)
    limit = gib(store.limit_bytes) if store.limit_bytes else "no limit"
    pieces += [("memory ", "$muted"), gib(store.used_bytes), ("/", "$muted"), limit, "   "]
    pieces += [DASH if store.keys is None else f"{store.keys:,}", (" keys   ", "$muted")]
    evicted = DASH if store.evicted is None else f"{store.evicted:,}"
    pieces += [(f"! {evicted}" if store.evicted else evicted, "$warning" if store.evicted else "")]
    pieces += [(" evicted   net ↓ ", "$muted"), gb_s(store.net_in_bytes_s), (" ↑ ", "$muted")]
    pieces += [gb_s(store.net_out_bytes_s)]
    return Content.assemble(*pieces)


def percent_of(value: float | None) -> str:
    return DASH if value is None else f"{value:.0f}"


class NodesPanel(Panel):
    """A line a node, and one for the store."""

    def part(self, view: LiveView) -> object:
        """The nodes and the store."""
        return view.nodes, view.store

    def title(self, view: LiveView) -> Content:
        """What it is."""
        return Content("Nodes")

    def conclusion(self, view: LiveView) -> Content:
        """The units."""
        return Content("memory GiB · net and disk GB/s")

    def rows_wanted(self, view: LiveView) -> int:
        """A row a node, up to six."""
        return min(len(view.nodes) + (view.store is not None), 6) if _heard(view) else 1

    def body(self, view: LiveView, width: int, height: int) -> Content:
        """Every node."""
        name = min(_NAME, max((len(clean(node.node)) for node in view.nodes), default=0))
        name = max(name, len("store"))
        rows = [node_line(node, name) for node in view.nodes]
        if view.store is not None:
            rows.append(store_line(view.store, name))
        if not _heard(view):
            return Content.styled("No node and no store told of itself in this run so far.", "$muted")
        return lines([row.truncate(width, ellipsis=True) for row in rows], height)


def _heard(view: LiveView) -> bool:
    """Whether anything is known of any node or of the store."""
    told = [*view.nodes, *((view.store,) if view.store else ())]
    return any(one.health is not Health.UNSEEN for one in told)
