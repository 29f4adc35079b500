"""The TTFT histogram of the shown tier, or of all tiers side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.color import Color
from textual.content import Content
from textual.reactive import reactive

from kvtui.charts import histogram
from kvtui.live.times import HistogramData
from kvtui.live.view import LiveView
from kvtui.loglines import clean
from kvtui.palette import PLAIN, Palette, Rgb
from screens.figures import ms, ratio
from screens.widgets.live.ansi import from_ansi
from screens.widgets.live.panel import Panel, lines

COLD, CACHED = "█", "▒"
_LEAST_WIDTH = 30


def in_words(data: HistogramData, width: int) -> list[Content]:
    """The samples in a line each, where there is no room for bars or they cannot be drawn."""
    rows = []
    for name, style, values, median in (
        ("cold", "$cold", data.cold_ms, data.cold_median_ms),
        ("cached", "$cached", data.cached_ms, data.cached_median_ms),
    ):
        span = f"{ms(values[0])} to {ms(values[-1])} ms" if values else "no sample"
        row = Content.assemble((f"{name:<7}", style), f"n={len(values)}  median {ms(median)}  {span}")
        rows.append(row.truncate(width, ellipsis=True))
    return rows


def conclusion_of(data: HistogramData) -> Content:
    """Speedup with its interval, and the floor."""
    parts: list[str | tuple[str, str]] = []
    if data.speedup is not None:
        parts.append((ratio(data.speedup), "bold $foreground"))
        if data.speedup_low is not None and data.speedup_high is not None and data.speedup_level:
            low, high = ratio(data.speedup_low).rstrip("×"), ratio(data.speedup_high).rstrip("×")
            parts.append(f" ({data.speedup_level * 100:.0f} % {low}–{high})")
    if data.floor_ms is not None:
        parts.append(f"{'  ' if parts else ''}floor {ms(data.floor_ms)} ms")
    if data.cached_p95_ms is not None and data.cold_p95_ms is not None:
        parts.append(f"  p95 {ms(data.cold_p95_ms)} → {ms(data.cached_p95_ms)} ms")
    return Content.assemble(*parts)


class HistogramPanel(Panel):
    """Cold and cached over shared bins."""

    all_tiers: reactive[bool] = reactive(False)

    def part(self, view: LiveView) -> object:
        """The samples."""
        return view.histogram, view.head.tier, view.multiples if self.all_tiers else None

    def watch_all_tiers(self) -> None:
        """One tier, or all."""
        self.redraw()

    def _legend(self, name: str, glyph: str, data: HistogramData) -> Content:
        values = data.cold_ms if name == "cold" else data.cached_ms
        median = data.cold_median_ms if name == "cold" else data.cached_median_ms
        return Content.assemble(
            (f"{glyph if self.monochrome else '█'} {name}", f"${name}"),
            (f" n={len(values)}", "$muted"),
            *((f" median {ms(median)} ms",) if values else ()),
        )

    def title(self, view: LiveView) -> Content:
        """Legend and medians."""
        data = view.histogram
        if self.all_tiers:
            return Content.assemble(
                f"TTFT of every tier, {clean(data.topology)}  ",
                (f"{COLD} cold", "$cold"),
                "  ",
                (f"{CACHED if self.monochrome else '█'} cached", "$cached"),
            )
        # The tier is named where it is not the one in the line at the top.
        tier = f"TTFT {clean(data.tier)}" if data.tier != view.head.tier else "TTFT"
        return Content.assemble(
            f"{tier}  ", self._legend("cold", COLD, data), "  ", self._legend("cached", CACHED, data)
        )

    def conclusion(self, view: LiveView) -> Content:
        """The speedup."""
        if self.all_tiers:
            return Content("t one tier")
        return conclusion_of(view.histogram)

    def body(self, view: LiveView, width: int, height: int) -> Content:
        """Bars, small multiples, or words."""
        if self.all_tiers:
            here = [data for data in view.multiples if data.topology == view.histogram.topology]
            return side_by_side(here, width, height, self._palette())
        data = view.histogram
        if not data.cold_ms and not data.cached_ms:
            return Content.styled("The first answer will stand here.", "$muted")
        chart = histogram(data, width, height, self._palette())
        return from_ansi(chart) if chart else lines(in_words(data, width), height)

    def _palette(self) -> Palette:
        return PLAIN if self.monochrome else palette_of(self.app.theme_variables)


def palette_of(variables: Mapping[str, str]) -> Palette:
    """The theme's colours for charts."""

    def rgb(name: str) -> Rgb:
        return Color.parse(variables[name]).rgb

    return Palette(cold=rgb("cold"), cached=rgb("cached"), rest=rgb("neutral"))


def side_by_side(multiples: Sequence[HistogramData], width: int, height: int, palette: Palette) -> Content:
    """A small histogram a tier, in as many columns as are wide enough."""
    if not multiples:
        return Content.styled("The first answer will stand here.", "$muted")
    across = max(1, min(len(multiples), width // _LEAST_WIDTH))
    down = -(-len(multiples) // across)
    cell_width, cell_height = width // across, max(3, height // down)
    rows: list[Content] = []
    for start in range(0, len(multiples), across):
        cells = [
            _cell(data, cell_width - 2, cell_height, palette) for data in multiples[start : start + across]
        ]
        rows += [
            Content("  ").join(
                cell[row].pad_right(max(0, cell_width - 2 - cell[row].cell_length)) for cell in cells
            )
            for row in range(cell_height)
        ]
    return lines(rows, height)


def _cell(data: HistogramData, width: int, height: int, palette: Palette) -> list[Content]:
    heading = Content.assemble(
        (clean(data.tier), "bold"),
        "  ",
        (ms(data.cold_median_ms), "$cold"),
        " → ",
        (ms(data.cached_median_ms), "$cached"),
        f" ms  {ratio(data.speedup)}",
    ).truncate(width, ellipsis=True)
    chart = histogram(data, width, height - 1, palette)
    body = list(from_ansi(chart).split("\n")) if chart else in_words(data, width)
    rows = [heading, *body][:height]
    return [*rows, *(Content("") for _ in range(height - len(rows)))]
