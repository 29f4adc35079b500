"""Charts as text with ANSI colours; the only importer of plotext.

plotext 6 has one global figure and aborts the whole process on a value that is not finite, so everything that
reaches it is a small whole number: cells of a canvas that was drawn before. Draw in one thread only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kvtui.canvas import EIGHTHS, Canvas, Cell
from kvtui.live.histogram import Bins, bins
from kvtui.live.ticks import count_ticks, linear_ticks, log_ticks, tick_text
from kvtui.live.times import HistogramData
from kvtui.palette import Palette, Rgb

COLD, CACHED = "█", "▒"
_WHITE_BEHIND = "\x1b[48;5;15m"
FLOOR, MEDIAN = "┊", "▾"
_LEAST_COLUMNS, _LEAST_ROWS = 8, 3
_COLUMNS_A_TICK = 11
# With few samples a bin of one column is a comb of ones.
_WIDE_BINS_BELOW = 150
_AXIS_ROWS = 2


def rendered(canvas: Canvas, palette: Palette) -> str:
    """A canvas as lines of text, in colour where the palette has any."""
    if not palette.coloured:
        return canvas.text()
    try:
        return _through_plotext(canvas, palette)
    except Exception:  # noqa: BLE001  a chart is never worth the screen that it is on
        return canvas.text()


def _through_plotext(canvas: Canvas, palette: Palette) -> str:
    import plotext  # a second of a slow machine, wanted only when a chart is drawn

    figure = plotext.figure
    plotext.terminal.limit(False, False)
    figure.clear()
    figure.theme("colorless")
    figure.plot_size(canvas.columns + canvas.margin + 1, canvas.rows + _AXIS_ROWS)
    alike: dict[Cell, list[tuple[int, int]]] = {}
    for place, cell in canvas.cells.items():
        alike.setdefault(cell, []).append(place)
    for cell, places in alike.items():
        mark = plotext.marker(cell.glyph, plotext.pixel(cell.colour, cell.behind))
        columns, rows = [column for column, _ in places], [row for _, row in places]
        figure.draw(figure.signal(columns, rows, marker=mark))
    across, up = figure.ruler("x"), figure.ruler("y")
    across.lim(0, canvas.columns - 1)
    up.lim(0, canvas.rows - 1)
    across.ticks(list(canvas.x_ticks), list(canvas.x_ticks.values()))
    # Labels of one width keep the canvas as wide as it was drawn for.
    labels = [f"{canvas.y_ticks[row]:>{canvas.margin}}" for row in sorted(canvas.y_ticks)]
    up.ticks(sorted(canvas.y_ticks), labels)
    figure.legend(False)
    thin = plotext.pixel(palette.rest)
    across.pixel(thin)
    up.pixel(thin)
    figure.axes(True, pixel=thin)
    figure.axes(False, axis="x", side="upper")
    figure.axes(False, axis="y", side="right")
    # plotext 6.1 paints axes on white, whatever the theme.
    return figure.build().string().rstrip("\n").replace(_WHITE_BEHIND, "")


def histogram(data: HistogramData, width: int, height: int, palette: Palette) -> str:
    """Cold and cached TTFTs over shared bins, with medians and the floor marked.

    Args:
        data: The samples.
        width: Columns of the whole chart.
        height: Rows of the whole chart.
        palette: Colours; without any, cold is drawn with ``█`` and cached with ``▒``.

    Returns:
        Lines of text; empty when there is nothing to draw or no room for it.
    """
    rows = height - _AXIS_ROWS
    samples = len(data.cold_ms) + len(data.cached_ms)
    if not samples or rows < _LEAST_ROWS:
        return ""
    # The labels of the axis take room from the bins, whose counts make the labels: two rounds are enough.
    margin = 1
    for _ in range(2):
        columns = width - margin - 1
        if columns < _LEAST_COLUMNS:
            return ""
        wide = 2 if samples < _WIDE_BINS_BELOW and columns >= 2 * _LEAST_COLUMNS else 1
        found = bins(data, columns // wide)
        margin = len(str(max(*found.cold, *found.cached)))
    canvas = Canvas(wide * len(found.cold), rows)
    _bars(canvas, found, wide, palette)
    _marks(canvas, data, found, palette)
    canvas.x_ticks = _time_ticks(data, found, canvas.columns)
    return rendered(canvas, palette)


def _bars(canvas: Canvas, found: Bins, wide: int, palette: Palette) -> None:
    top = max(*found.cold, *found.cached, 1)
    rows = canvas.rows - 1  # the uppermost row is that of the marks
    for place, (cold, cached) in enumerate(zip(found.cold, found.cached, strict=True)):
        # The lower bar stands before the higher one, so both are seen.
        pair = [(cold, COLD, palette.cold), (cached, CACHED, palette.cached)]
        pair.sort(key=lambda bar: -bar[0])
        for column in range(place * wide, (place + 1) * wide):
            for count, glyph, colour in pair:
                if count:
                    _bar(canvas, column, count / top * rows, glyph, colour, coloured=palette.coloured)
    canvas.y_ticks = {
        max(0, math.ceil(count / top * rows) - 1): str(count) for count in count_ticks(top, max(1, rows // 3))
    }


def _bar(
    canvas: Canvas,
    column: int,
    height: float,
    glyph: str,
    colour: Rgb | None,
    *,
    coloured: bool,
) -> None:
    """One column of a bar; in colour its top is an eighth of a row exact."""
    eighths = max(1, round(height * 8)) if coloured else max(8, round(height) * 8)
    whole, part = divmod(eighths, 8)
    for row in range(whole):
        canvas.put(column, row, Cell(COLD if coloured else glyph, colour))
    if part:
        under = canvas.cells.get((column, whole))
        canvas.put(column, whole, Cell(EIGHTHS[part - 1], colour, under.colour if under else None))


def _column(value: float, edges: Sequence[float], columns: int, *, log: bool) -> int | None:
    low, high = edges[0], edges[-1]
    if not low <= value <= high:
        return None
    scaled = log and low > 0
    share = math.log(value / low) / math.log(high / low) if scaled else (value - low) / (high - low)
    return min(columns - 1, int(share * columns))


def _marks(canvas: Canvas, data: HistogramData, found: Bins, palette: Palette) -> None:
    def column_of(value: float | None) -> int | None:
        return None if value is None else _column(value, found.edges_ms, canvas.columns, log=data.log)

    floor = column_of(data.floor_ms)
    if floor is not None:
        for row in range(canvas.rows):
            if (floor, row) not in canvas.cells:
                canvas.put(floor, row, Cell(FLOOR, palette.rest))
    for median_ms, colour in ((data.cold_median_ms, palette.cold), (data.cached_median_ms, palette.cached)):
        column = column_of(median_ms)
        if column is not None:
            canvas.put(column, canvas.rows - 1, Cell(MEDIAN, colour))


def _time_ticks(data: HistogramData, found: Bins, columns: int) -> dict[int, str]:
    most = max(2, columns // _COLUMNS_A_TICK)
    low, high = found.edges_ms[0], found.edges_ms[-1]
    values = log_ticks(low, high, most) if data.log else linear_ticks(low, high, most)
    ticks: dict[int, str] = {}
    for value in values:
        column = _column(value, found.edges_ms, columns, log=data.log)
        if column is not None:
            ticks[column] = tick_text(value)
    if ticks:
        ticks[max(ticks)] += " ms"
    return ticks
