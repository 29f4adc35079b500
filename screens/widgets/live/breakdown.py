"""Where a cached TTFT goes: lookup, retrieve and the rest, medians by tier as stacked bars."""

from __future__ import annotations

from itertools import pairwise

from textual.content import Content

from kvtui.live.view import LiveView, TierParts
from kvtui.loglines import clean
from screens.figures import ms
from screens.widgets.live.panel import Panel, lines

_PARTS = (("lookup", "$stored", "▓"), ("retrieve", "$cached", "▒"), ("rest", "$neutral", "░"))


def widths(values: tuple[float, ...], cells: int, most: float) -> tuple[int, ...]:
    """Cells of each part, so that rounding never adds up to more than the whole has."""
    ends, total = [0], 0.0
    for value in values:
        total += value
        ends.append(round(cells * min(total / most, 1.0)) if most > 0 else 0)
    return tuple(after - before for before, after in pairwise(ends))


class BreakdownPanel(Panel):
    """A bar a tier."""

    def part(self, view: LiveView) -> object:
        """The medians."""
        return view.parts

    def title(self, view: LiveView) -> Content:
        """What it is, and what the colours mean."""
        return Content("Where a cached TTFT goes")

    def conclusion(self, view: LiveView) -> Content:
        """What the colours and the figures are."""
        return Content.assemble(self._legend(), "  medians, ms")

    def rows_wanted(self, view: LiveView) -> int:
        """A row a tier, a few at least."""
        return min(max(len(view.parts), 4), 8)

    def _legend(self) -> Content:
        words = [
            Content.assemble((f"{glyph if self.monochrome else '█'} {name}", style))
            for name, style, glyph in _PARTS
        ]
        return Content(" ").join(words)

    def body(self, view: LiveView, width: int, height: int) -> Content:
        """The bars share one scale."""
        if not view.parts:
            return Content.styled("The first cached request will be taken apart here.", "$muted")
        most = max((tier.cached_ms or 0.0 for tier in view.parts), default=0.0)
        name = min(12, max(len(clean(tier.tier)) for tier in view.parts)) + 1
        prices = any(tier.store_price_ms is not None for tier in view.parts) and width >= 40
        room = width - name - 7 - (13 if prices else 0)
        rows = [self._row(tier, name, max(4, room), most, prices) for tier in view.parts]
        return lines(rows, height)

    def _row(self, tier: TierParts, name: int, room: int, most: float, prices: bool) -> Content:
        label = Content.styled(f"{clean(tier.tier)[: name - 1]:<{name}}", "bold" if tier.current else "")
        values = (tier.lookup_at_most_ms or 0.0, tier.retrieve_ms or 0.0, tier.rest_ms or 0.0)
        bars: list[Content] = []
        used = 0
        if tier.cached_ms is not None:
            for cells, (_, style, glyph) in zip(widths(values, room, most), _PARTS, strict=True):
                bars.append(Content.styled((glyph if self.monochrome else "█") * cells, style))
                used += cells
        price = Content("")
        if prices:
            text = "" if tier.store_price_ms is None else f"{tier.store_price_ms:+,.0f}"
            price = Content.assemble(("  store " if text else "        ", "$stored"), f"{text:>5}")
        return Content.assemble(label, *bars, " " * (room - used), f" {ms(tier.cached_ms):>6}", price)
