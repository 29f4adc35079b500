"""Where a cached TTFT goes: lookup, retrieve and the rest, medians by tier as stacked bars."""

from __future__ import annotations

from itertools import pairwise

from textual.content import Content

from kvtui.live.times import StorePrice, TierParts
from kvtui.live.view import LiveView
from kvtui.loglines import clean
from screens.figures import ms
from screens.widgets.live.panel import Panel, lines

_PARTS = (("lookup", "$stored", "▓"), ("retrieve", "$cached", "▒"), ("rest", "$neutral", "░"))

_LEAST_WITH_PRICES, _ROOMY = 40, 56


def widths(values: tuple[float, ...], cells: int, most: float) -> tuple[int, ...]:
    """Cells of each part, so that rounding never adds up to more than the whole has."""
    ends, total = [0], 0.0
    for value in values:
        total += value
        ends.append(round(cells * min(total / most, 1.0)) if most > 0 else 0)
    return tuple(after - before for before, after in pairwise(ends))


def price_words(price: StorePrice | None, *, long: bool) -> str:
    """What storing costs a cold request, never more than is known of it."""
    if price is None:
        return ""
    if price.low_ms is None or price.high_ms is None:
        return "store – (few documents)" if long else "store –"
    if not price.beyond_noise:
        return "store within noise" if long else "store ≈ 0"
    span = f" ({ms(price.low_ms)}–{ms(price.high_ms)})" if long else ""
    return f"store +{ms(price.median_ms)}{span}"


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
        prices = [price_words(tier.store_price, long=width >= _ROOMY) for tier in view.parts]
        column = max(map(len, prices)) if width >= _LEAST_WITH_PRICES else 0
        room = width - name - 7 - (column + 2 if column else 0)
        rows = [
            self._row(tier, name, max(4, room), most, price if column else "")
            for tier, price in zip(view.parts, prices, strict=True)
        ]
        return lines(rows, height)

    def _row(self, tier: TierParts, name: int, room: int, most: float, price: str) -> Content:
        label = Content.styled(f"{clean(tier.tier)[: name - 1]:<{name}}", "bold" if tier.current else "")
        values = (tier.lookup_at_most_ms or 0.0, tier.retrieve_ms or 0.0, tier.rest_ms or 0.0)
        bars: list[Content] = []
        used = 0
        if tier.cached_ms is not None:
            for cells, (_, style, glyph) in zip(widths(values, room, most), _PARTS, strict=True):
                bars.append(Content.styled((glyph if self.monochrome else "█") * cells, style))
                used += cells
        told = Content.styled(f"  {price}" if price else "", "$stored")
        return Content.assemble(label, *bars, " " * (room - used), f" {ms(tier.cached_ms):>6}", told)
