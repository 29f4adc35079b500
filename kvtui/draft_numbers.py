"""Numbers as a person types them, and capacities stepped up and down."""

from __future__ import annotations

import re
from math import ceil, floor, log10

_WHOLE = re.compile(r"\d{1,19}", re.ASCII)
_FRACTION = re.compile(r"(\d{1,20}\.?\d{0,25}|\.\d{1,25})([eE][+-]?\d{1,2})?", re.ASCII)


def whole(text: str, empty: object = "") -> object:
    """A whole number; separators of thousands are taken, what is no number stays a text."""
    plain = _plain(text)
    if not plain:
        return empty
    return int(plain) if _WHOLE.fullmatch(plain) else text


def fraction(text: str, empty: object = "") -> object:
    """A number with decimals; what is none stays a text."""
    plain = _plain(text)
    if not plain:
        return empty
    return float(plain) if _FRACTION.fullmatch(plain) else text


def _plain(text: str) -> str:
    return text.strip().replace(",", "").replace("_", "")


def stepped(text: str, up: bool, smallest: float | None, limit: float | None) -> str | None:
    """The next capacity up or down.

    It stops at the least that keeps every document, and ends at what the machine has.

    Args:
        text: What is typed now.
        up: Whether it grows.
        smallest: The least capacity that keeps every document.
        limit: The most that the machine can give.

    Returns:
        The next one as text, or ``None`` when there is none or the text is no number.
    """
    value = fraction(text, empty=None)
    if not isinstance(value, float) or not 0 <= value <= 2**20:
        return None
    step = _power_of_ten(max(value, 0.001))
    if not up and value <= step * 1.000001:
        step /= 10
    count = value / step
    following = (floor(count + 1e-6) + 1) * step if up else (ceil(count - 1e-6) - 1) * step
    if smallest and min(value, following) < smallest < max(value, following):
        following = smallest
    if limit is not None and up and following > limit:
        following = limit if value < limit else value
    shown = f"{following:.10g}"
    goes_on = float(shown) > value if up else 0 < float(shown) < value
    return shown if goes_on else None


def _power_of_ten(size: float) -> float:
    return float(10.0 ** floor(log10(size) + 1e-9))
