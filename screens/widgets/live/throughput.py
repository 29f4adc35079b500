"""Rates against the ceilings that were measured before the run, and what they say together."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from kvtui.live.rates import Gauge, StoreStrip
from kvtui.live.view import LiveView
from kvtui.loglines import clean
from screens.figures import bar, gb_s, gib, percent, span
from screens.widgets.live.panel import Panel, lines

_STYLES = {"retrieve": "$cached", "store": "$stored"}
_NAME = 10


def _row(name: str, share: float | None, style: str, figures: Content, width: int) -> Content:
    room = max(4, width - _NAME - 2 - figures.cell_length)
    return Content.assemble(f"{name:<{_NAME}} ", bar(share, room, style), " ", figures)


def gauge_row(gauge: Gauge, width: int) -> Content:
    """One rate: bar, figure, ceiling."""
    style = _STYLES.get(gauge.name, "$neutral")
    rate = f"{gb_s(gauge.rate_bytes_s):>5}"
    figures = [Content.styled(rate, "" if gauge.age_s is None else "$muted")]
    if gauge.ceiling_bytes_s is not None:
        figures.append(Content.assemble((" of ", "$muted"), f"{gb_s(gauge.ceiling_bytes_s):>5}"))
    else:
        figures.append(Content("         "))
    figures.append(Content.styled(" GB/s", "$muted"))
    if gauge.age_s is not None:
        figures.append(Content.styled(f" {span(gauge.age_s)} old", "$warning"))
    elif width >= 44:
        share = f"{percent(gauge.share):>4}" if gauge.share is not None else "    "
        figures.append(Content.assemble(share, (" %", "$muted") if share.strip() else "  "))
    return _row(clean(gauge.name)[:_NAME], gauge.share, style, Content.assemble(*figures), width)


def store_row(store: StoreStrip, width: int) -> Content:
    """The store's memory against its limit."""
    share = store.used_bytes / store.limit_bytes if store.used_bytes and store.limit_bytes else None
    limit = f"{gib(store.limit_bytes):>5}" if store.limit_bytes else "no limit"
    figures = Content.assemble(f"{gib(store.used_bytes):>5}", (" of ", "$muted"), limit, (" GiB ", "$muted"))
    if width >= 44:
        figures = Content.assemble(figures, f"{percent(share):>4}", (" %", "$muted"))
    return _row("store mem", share, "$stored", figures, width)


class ThroughputPanel(Panel):
    """Gauges, then a sentence or two."""

    def part(self, view: LiveView) -> object:
        """The gauges and the store's memory."""
        return view.throughput, view.store

    def title(self, view: LiveView) -> Content:
        """What it is."""
        return Content("Throughput against ceilings")

    def body(self, view: LiveView, width: int, height: int) -> Content:
        """What moves first; what was never seen is left out when the room is short."""
        told = [text for text in (view.throughput.verdict, view.throughput.floor) if text]
        words = [
            row
            for text, style in zip(told, ("", "$muted"), strict=False)
            for row in Content.styled(clean(text), style).wrap(width)
        ]
        store = view.store if view.store is not None and view.store.used_bytes is not None else None
        gauges = view.throughput.gauges
        if store is None and all(g.rate_bytes_s is None and g.ceiling_bytes_s is None for g in gauges):
            return Content.styled("Rates stand here once requests are answered.", "$muted")
        room = max(1, height - len(words) - (store is not None))
        rows = [gauge_row(gauge, width) for gauge in most_telling(gauges, room)]
        if store is not None:
            rows.append(store_row(store, width))
        return lines([*rows, *words], height)


def most_telling(gauges: Sequence[Gauge], room: int) -> list[Gauge]:
    """As many as there is room for: those with a ceiling before those that are only known."""
    order = sorted(gauges, key=lambda gauge: (gauge.share is None, gauge.rate_bytes_s is None))
    kept = order[:room]
    return [gauge for gauge in gauges if gauge in kept]
