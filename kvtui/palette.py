"""The colours of charts, by what they mean; without any, glyphs tell the series apart."""

from __future__ import annotations

from dataclasses import dataclass

Rgb = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours by meaning; ``None`` draws in the terminal's own.

    Attributes:
        cold: Cold requests.
        cached: Cached requests.
        rest: What is none of these; axes and marks too.
    """

    cold: Rgb | None = (0x6C, 0xB6, 0xFF)
    cached: Rgb | None = (0xFF, 0xB4, 0x54)
    rest: Rgb | None = (0x76, 0x83, 0x90)

    @property
    def coloured(self) -> bool:
        """Whether colour alone may tell two series apart."""
        return self.cold is not None and self.cached is not None


PLAIN = Palette(None, None, None)
