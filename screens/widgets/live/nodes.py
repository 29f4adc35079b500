"""The nodes and the store in a line each: use of GPUs, memory, network and disks."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from kvtui.live.view import GpuStrip, Health, LiveView, NodeStrip, StoreStrip
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


def _state(health: Health, age_s: float | None) -> list[Piece]:
    if health is Health.STALE:
        return [(f"{span(age_s)} old  ", "$warning")]
    if health is Health.DEAD:
        return [("no answer  ", "$error")]
    return []


def node_line(node: NodeStrip, name: int) -> Content:
    """One node."""
    use, used, total = gpu_use(node.gpus)
    pieces: list[Piece] = [*name_of(node.node, node.health, name), *_state(node.health, node.age_s)]
    if node.health in (Health.DEAD, Health.UNSEEN):
        return Content.assemble(*pieces, (DASH, "$muted"))
    if node.gpus:
        many = f"{len(node.gpus)}×" if len(node.gpus) > 1 else ""
        pieces += [(f"{many}GPU ", "$muted"), f"{_percent(use):>3}", (" %  ", "$muted"), f"{gib(used):>5}"]
        pieces += [("/", "$muted"), f"{gib(total)}   "]
        if throttles := {clean(gpu.throttle) for gpu in node.gpus if gpu.throttle}:
            pieces += [(f"! {', '.join(sorted(throttles))}", "$warning"), "   "]
    pieces += [("cpu ", "$muted"), f"{_percent(node.cpu_percent):>3}", (" %   ", "$muted")]
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
    pieces: list[Piece] = [*name_of("store", store.health, name), *_state(store.health, store.age_s)]
    if store.health in (Health.DEAD, Health.UNSEEN):
        return Content.assemble(*pieces, (DASH, "$muted"))
    limit = gib(store.limit_bytes) if store.limit_bytes else "no limit"
    pieces += [("memory ", "$muted"), gib(store.used_bytes), ("/", "$muted"), limit, "   "]
    pieces += [DASH if store.keys is None else f"{store.keys:,}", (" keys   ", "$muted")]
    evicted = DASH if store.evicted is None else f"{store.evicted:,}"
    pieces += [(f"! {evicted}" if store.evicted else evicted, "$warning" if store.evicted else "")]
    pieces += [(" evicted   net ↓ ", "$muted"), gb_s(store.net_in_bytes_s), (" ↑ ", "$muted")]
    pieces += [gb_s(store.net_out_bytes_s)]
    return Content.assemble(*pieces)


def _percent(value: float | None) -> str:
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
        return min(len(view.nodes) + (view.store is not None), 6)

    def body(self, view: LiveView, width: int, height: int) -> Content:
        """Every node."""
        name = min(_NAME, max((len(clean(node.node)) for node in view.nodes), default=0))
        name = max(name, len("store"))
        rows = [node_line(node, name) for node in view.nodes]
        if view.store is not None:
            rows.append(store_line(view.store, name))
        if not rows:
            return Content.styled("No node told of itself yet.", "$muted")
        return lines([row.truncate(width, ellipsis=True) for row in rows], height)


class NodeTable(Panel):
    """All that is known of every node, a column each: for wide terminals."""

    def part(self, view: LiveView) -> object:
        """The nodes and the store."""
        return view.nodes, view.store

    def title(self, view: LiveView) -> Content:
        """What it is."""
        return Content("Nodes")

    def body(self, view: LiveView, width: int, height: int) -> Content:
        """A row a figure; nodes that do not fit are counted."""
        label = 11
        column = 10
        fit = max(1, (width - label - 5) // column)
        nodes = view.nodes[:fit]
        rows = [Content.assemble(f"{'':<{label}}", *(_heading(node, column) for node in nodes))]
        for name, unit, figure in _FIGURES:
            cells = [f"{figure(node):>{column}}" for node in nodes]
            if all(cell.strip() == DASH for cell in cells) and name not in _ALWAYS:
                continue
            rows.append(Content.assemble((f"{name:<{label}}", "$muted"), *cells, (f" {unit}", "$muted")))
        if len(view.nodes) > fit:
            rows.append(Content.styled(f"and {len(view.nodes) - fit} more nodes", "$muted"))
        if view.store is not None:
            rows += [Content(""), *_store_rows(view.store, label, column)]
        return lines(rows, height)


def _heading(node: NodeStrip, width: int) -> Content:
    sign = name_of(node.node, node.health, width)[0]
    name = clean(node.node)[: width - 3]
    age = node.health is Health.STALE
    text = f"{span(node.age_s)} old" if age else name
    return Content.assemble(" " * (width - len(text) - 2), sign, (text, "$warning" if age else "bold"))


_ALWAYS = ("cpu", "host")
_FIGURES = (
    ("GPU", "%", lambda n: _percent(gpu_use(n.gpus)[0])),
    ("GPU memory", "GiB", lambda n: gib(gpu_use(n.gpus)[1])),
    ("  of", "GiB", lambda n: gib(gpu_use(n.gpus)[2])),
    ("cpu", "%", lambda n: _percent(n.cpu_percent)),
    ("  cores", "", lambda n: DASH if n.cores is None else str(n.cores)),
    ("host", "GiB", lambda n: gib(n.ram_used_bytes)),
    ("  of", "GiB", lambda n: gib(n.ram_total_bytes)),
    ("  DRAM tier", "GiB", lambda n: gib(n.dram_tier_bytes)),
    ("  engine", "GiB", lambda n: gib(n.engine_rss_bytes)),
    ("  swap", "GiB", lambda n: gib(n.swap_used_bytes)),
    ("net in", "GB/s", lambda n: gb_s(n.nic_rx_bytes_s)),
    ("net out", "GB/s", lambda n: gb_s(n.nic_tx_bytes_s)),
    ("disk read", "GB/s", lambda n: gb_s(n.disk_read_bytes_s)),
    ("disk write", "GB/s", lambda n: gb_s(n.disk_write_bytes_s)),
)


def _store_rows(store: StoreStrip, label: int, column: int) -> list[Content]:
    heading = Content.assemble(*name_of("store", store.health, 5), *_state(store.health, store.age_s))
    count = lambda value: DASH if value is None else f"{value:,}"  # noqa: E731
    figures = (
        ("memory", gib(store.used_bytes), "GiB"),
        (
            "  limit",
            gib(store.limit_bytes) if store.limit_bytes else "none",
            "GiB" if store.limit_bytes else "",
        ),
        ("keys", count(store.keys), ""),
        ("evicted", count(store.evicted), ""),
        ("net in", gb_s(store.net_in_bytes_s), "GB/s"),
        ("net out", gb_s(store.net_out_bytes_s), "GB/s"),
    )
    rows = [
        Content.assemble((f"{name:<{label}}", "$muted"), f"{value:>{column}}", (f" {unit}", "$muted"))
        for name, value, unit in figures
    ]
    return [heading, *rows]
