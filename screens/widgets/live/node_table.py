"""All that is known of every node, a column each: for wide terminals."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content

from kvtui.live.rates import Health, NodeStrip, StoreStrip
from kvtui.live.view import LiveView
from kvtui.loglines import clean
from kvtui.units import DASH
from screens.figures import gb_s, gib, span
from screens.widgets.live.nodes import gpu_use, name_of, percent_of, state_of
from screens.widgets.live.panel import Panel, lines

_LABEL, _COLUMN, _UNIT = 11, 10, 5
_ALWAYS = ("cpu", "host")


def _count(value: int | None) -> str:
    return DASH if value is None else f"{value:,}"


_FIGURES: tuple[tuple[str, str, Callable[[NodeStrip], str]], ...] = (
    ("GPU", "%", lambda n: percent_of(gpu_use(n.gpus)[0])),
    ("GPU memory", "GiB", lambda n: gib(gpu_use(n.gpus)[1])),
    ("  of", "GiB", lambda n: gib(gpu_use(n.gpus)[2])),
    ("cpu", "%", lambda n: percent_of(n.cpu_percent)),
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
        label, column = _LABEL, _COLUMN
        fit = max(1, (width - label - _UNIT) // column)
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
            rows += [Content(""), *_store_rows(view.store)]
        return lines(rows, height)


def _heading(node: NodeStrip, width: int) -> Content:
    sign = name_of(node.node, node.health, width)[0]
    name = clean(node.node)[: width - 3]
    age = node.health is Health.STALE
    text = f"{span(node.age_s)} old" if age else name
    return Content.assemble(" " * (width - len(text) - 2), sign, (text, "$warning" if age else "bold"))


def _store_rows(store: StoreStrip) -> list[Content]:
    heading = Content.assemble(*name_of("store", store.health, 5), *state_of(store.health, store.age_s))
    figures = (
        ("memory", gib(store.used_bytes), "GiB"),
        (
            "  limit",
            gib(store.limit_bytes) if store.limit_bytes else "none",
            "GiB" if store.limit_bytes else "",
        ),
        ("keys", _count(store.keys), ""),
        ("evicted", _count(store.evicted), ""),
        ("net in", gb_s(store.net_in_bytes_s), "GB/s"),
        ("net out", gb_s(store.net_out_bytes_s), "GB/s"),
    )
    rows = [
        Content.assemble((f"{name:<{_LABEL}}", "$muted"), f"{value:>{_COLUMN}}", (f" {unit}", "$muted"))
        for name, value, unit in figures
    ]
    return [heading, *rows]
