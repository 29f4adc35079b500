"""A working set against a capacity, as wide as there is room."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.style import Style


@dataclass(frozen=True, slots=True)
class FitBar:
    """What fits, what does not, and what stays free; the glyphs differ as the colours do.

    Attributes:
        needed: What the documents take.
        capacity: What there is.
        fits: Colour of the part that fits.
        beyond: Colour of what does not.
        free: Colour of what stays free.
    """

    needed: float
    capacity: float
    fits: str
    beyond: str
    free: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        whole = max(self.needed, self.capacity)
        inside = _columns(min(self.needed, self.capacity) / whole, width) if whole > 0 else 0
        rest = width - inside
        yield Segment("█" * inside, Style.parse(self.fits))
        if self.needed > self.capacity:
            yield Segment("▒" * rest, Style.parse(self.beyond))
        else:
            yield Segment("░" * rest, Style.parse(self.free))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(4, options.max_width)


def _columns(share: float, width: int) -> int:
    """A part that is there gets a column, and one that is not whole leaves one."""
    if share <= 0:
        return 0
    if share >= 1:
        return width
    return min(width - 1, max(1, round(share * width)))
