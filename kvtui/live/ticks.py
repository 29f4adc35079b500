"""Round figures for an axis."""

from __future__ import annotations

import math

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0, 20.0)


def linear_ticks(low: float, high: float, most: int) -> tuple[float, ...]:
    """At most so many round figures within a range, evenly spaced."""
    if not high > low or most < 1:
        return ()
    size = 10.0 ** math.floor(math.log10((high - low) / most))
    for step in (factor * size for factor in _STEPS):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            break
    return tuple(place * step for place in range(first, last + 1))


def log_ticks(low: float, high: float, most: int) -> tuple[float, ...]:
    """At most so many round figures on a logarithmic axis: 1, 2 and 5 of each ten, or fewer."""
    if low <= 0 or not high > low or most < 1:
        return ()
    tens = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        found = [factor * 10.0**ten for ten in tens for factor in factors]
        kept = tuple(value for value in found if low <= value <= high)
        if len(kept) <= most:
            return kept
    return kept[:: -(-len(kept) // most)]


def count_ticks(high: int, most: int) -> tuple[int, ...]:
    """Whole numbers up to ``high``, which is always one of them."""
    if high < 1 or most < 1:
        return ()
    step = -(-high // most)
    return tuple(sorted({high, *range(step, high - step // 2, step)}))


def tick_text(value: float) -> str:
    """A figure of an axis, no longer than it must be."""
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.3g}"
