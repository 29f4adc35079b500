"""The documents in request order: cold, cached, speedup; a point can be chosen and opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from kvtui.live.standing import Sign
from kvtui.live.times import Point
from kvtui.live.view import LiveView
from kvtui.loglines import clean
from screens.figures import ms, ratio
from screens.widgets.live.head import SIGN_STYLES
from screens.widgets.live.panel import Panel, lines

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_LABEL = 8
_WIDEST_POINT = 8
_KINDS: tuple[tuple[str, str, Callable[[Point], float | None]], ...] = (
    ("cold", "$cold", lambda point: point.cold_ms),
    ("cached", "$cached", lambda point: point.cached_ms),
    ("speedup", "$neutral", lambda point: point.speedup),
)


def column(share: float | None, rows: int) -> tuple[str, ...]:
    """A bar of ``rows`` cells in eighths, its top first; nothing where the value is not known."""
    if share is None:
        return (" ",) * rows
    eighths = max(1, round(min(max(share, 0.0), 1.0) * rows * 8))
    return tuple(_EIGHTHS[min(8, max(0, eighths - 8 * row))] for row in reversed(range(rows)))


def window(count: int, room: int, chosen: int | None, newest: int) -> range:
    """Which points are seen: all, or those around the chosen or else the newest one."""
    if count <= room:
        return range(count)
    middle = newest if chosen is None else chosen
    start = min(max(0, middle - room // 2), count - room)
    return range(start, start + room)


class SeriesPanel(Panel):
    """Three rows of bars over the places of the documents."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", "Before", show=False, tooltip="Choose the document before."),
        Binding("right", "move(1)", "After", show=False, tooltip="Choose the next document."),
        Binding("home", "edge(0)", "First", show=False, tooltip="Choose the first document."),
        Binding("end", "edge(-1)", "Last", show=False, tooltip="Choose the last document."),
        Binding("enter", "open", "Open", show=False, tooltip="Show this request with its evidence."),
    ]

    @dataclass
    class Opened(Message):
        """A document was opened."""

        point: Point

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._chosen: int | None = None

    def part(self, view: LiveView) -> object:
        """The series."""
        return view.series

    def _point(self, view: LiveView) -> Point | None:
        points = view.series.points
        if self._chosen is None or not points:
            return None
        return points[min(self._chosen, len(points) - 1)]

    def title(self, view: LiveView) -> Content:
        """What it is."""
        return Content.assemble("By document, in request order", ("  ← → choose", "$muted"))

    def conclusion(self, view: LiveView) -> Content:
        """The chosen document in figures; else what is peculiar about the first ones."""
        point = self._point(view)
        if point is None:
            return Content.styled(clean(view.series.anomaly), "$warning")
        parts: list[str | tuple[str, str]] = [
            (f"{point.place} {clean(point.document)}", "$foreground"),
            "  ",
            (ms(point.cold_ms), "$cold"),
            " → ",
            (ms(point.cached_ms), "$cached"),
            f" ms  {ratio(point.speedup)}",
        ]
        if point.verdict:
            parts += ["  ", (f"{point.sign.value} {clean(point.verdict)}", SIGN_STYLES[point.sign])]
        return Content.assemble(*parts, "  enter opens")

    def body(self, view: LiveView, width: int, height: int) -> Content:
        """The bars of cold and cached share one scale."""
        series = view.series
        if not series.points:
            return Content.styled("No document was answered yet.", "$muted")
        count = max(series.documents, len(series.points))
        cells = max(1, min(_WIDEST_POINT, (width - _LABEL) // max(1, count)))
        newest = max((i for i, p in enumerate(series.points) if p.cold_ms or p.cached_ms), default=0)
        seen = window(count, max(1, (width - _LABEL) // cells), self._chosen, newest)
        points = [series.points[i] if i < len(series.points) else None for i in seen]
        times = [t for p in series.points for t in (p.cold_ms, p.cached_ms) if t is not None]
        most_ms, most_x = max(times, default=0.0), max((p.speedup or 0.0 for p in series.points), default=0.0)
        each, spare = divmod(max(3, height - 2), 3)
        rows: list[Content] = []
        for at, (name, style, value) in enumerate(_KINDS):
            most = most_x if name == "speedup" else most_ms
            shares = [_of(value(point) if point else None, most) for point in points]
            rows += self._bars(name, style, points, shares, each + (at < spare), cells)
        rows = rows[: max(1, height - 1)] if height < len(rows) + 2 else [*rows, self._signs(points, cells)]
        return lines([*rows, self._axis(seen, cells)], height)

    def _chosen_style(self, point: Point | None) -> str:
        chosen = self._point(self.view) if self.view else None
        return " on $panel-lighten-2" if point is not None and point is chosen else ""

    def _bars(
        self,
        name: str,
        style: str,
        points: list[Point | None],
        shares: list[float | None],
        rows: int,
        cells: int,
    ) -> list[Content]:
        columns = [column(share, rows) for share in shares]
        out = []
        for row in range(rows):
            label = name if row == rows - 1 else ""
            parts: list[tuple[str, str]] = [(f"{label:<{_LABEL}}", style if name != "speedup" else "$muted")]
            for point, cell in zip(points, columns, strict=True):
                text = cell[row]
                if row == rows - 1 and text == " ":
                    parts.append(("·" * cells, "$line"))
                    continue
                parts.append((text * cells, _bar_style(name, style, point) + self._chosen_style(point)))
            out.append(joined(parts))
        return out

    def _signs(self, points: list[Point | None], cells: int) -> Content:
        parts: list[tuple[str, str]] = [(f"{'reuse':<{_LABEL}}", "$muted")]
        for point in points:
            sign, style = ("·", "$line")
            if point is not None and point.verdict:
                sign = point.sign.value
                style = "$muted" if point.sign is Sign.GOOD else SIGN_STYLES[point.sign]
            parts.append((f"{sign:<{cells}}", style + self._chosen_style(point)))
        return joined(parts)

    def _axis(self, seen: range, cells: int) -> Content:
        text = [" "] * (len(seen) * cells)
        for at, index in enumerate(seen):
            place = index + 1
            if place == 1 or place % 5 == 0:
                for offset, letter in enumerate(str(place)):
                    if at * cells + offset < len(text):
                        text[at * cells + offset] = letter
            if index == self._chosen:
                text[at * cells] = "▴"
        return Content.styled(f"{'':<{_LABEL}}{''.join(text)}", "$muted")

    def action_move(self, step: int) -> None:
        """Choose the document before or after."""
        if self.view and self.view.series.points:
            last = len(self.view.series.points) - 1
            start = self._newest() if self._chosen is None else self._chosen + step
            self._chosen = min(max(0, start), last)
            self.redraw()

    def action_edge(self, index: int) -> None:
        """Choose the first or the last document."""
        if self.view and self.view.series.points:
            self._chosen = index % len(self.view.series.points)
            self.redraw()

    def _newest(self) -> int:
        points = self.view.series.points if self.view else ()
        return max((i for i, point in enumerate(points) if point.cached_ms is not None), default=0)

    def action_open(self) -> None:
        """Open the chosen document's request."""
        if self.view is None:
            return
        if self._chosen is None:
            self.action_move(0)
        if point := self._point(self.view):
            self.post_message(self.Opened(point))

    def copy_text(self) -> str:
        """The documents as a table, with tabs."""
        rows = ["place\tdocument\tcold_ms\tcached_ms\tspeedup\tverdict"]
        for p in self.view.series.points if self.view else ():
            figures = (p.cold_ms, p.cached_ms, p.speedup)
            told = "\t".join("" if value is None else f"{value:.3f}" for value in figures)
            rows.append(f"{p.place}\t{clean(p.document)}\t{told}\t{clean(p.verdict)}")
        return "\n".join(rows) + "\n"


def joined(parts: Sequence[tuple[str, str]]) -> Content:
    """Pieces of text with their styles; neighbours that look alike become one."""
    runs = groupby(parts, key=lambda part: part[1])
    return Content.assemble(*(("".join(text for text, _ in run), style) for style, run in runs))


def _of(value: float | None, most: float) -> float | None:
    return None if value is None or most <= 0 else value / most


def _bar_style(name: str, style: str, point: Point | None) -> str:
    """What was not reused whole looks different; so do the first requests' speedups."""
    if point is None:
        return style
    if name != "cold" and point.sign in (Sign.BAD, Sign.WARNING):
        return SIGN_STYLES[point.sign]
    return "$foreground" if name == "speedup" and point.early else style
