"""Figures as a person reads them: three digits, a thin unit, a dash for what is not known."""

from __future__ import annotations

import time

from textual.content import Content

from kvtui.units import DASH, GIB


def number(value: float | None) -> str:
    """Three digits at least where they are known: ``428``, ``42.8``, ``4.28``, ``4,280``."""
    if value is None:
        return DASH
    size = abs(value)
    return f"{value:,.0f}" if size >= 99.95 else f"{value:.1f}" if size >= 9.995 else f"{value:.2f}"


def ms(value: float | None) -> str:
    """Milliseconds, without the unit."""
    if value is None:
        return DASH
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def ratio(value: float | None) -> str:
    """A speedup: ``1.9×``."""
    if value is None:
        return DASH
    return f"{value:.0f}×" if value >= 99.5 else f"{value:.1f}×" if value >= 9.95 else f"{value:.2f}×"


def gib(value: float | None) -> str:
    """Bytes in GiB, without the unit."""
    return DASH if value is None else f"{value / GIB:,.1f}"


def gb_s(value: float | None) -> str:
    """Bytes a second in GB/s, without the unit."""
    return DASH if value is None else f"{value / 1e9:.2f}"


def percent(share: float | None) -> str:
    """A part of one, in percent, without the unit."""
    return DASH if share is None else f"{share * 100:.0f}"


def span(seconds: float | None) -> str:
    """A duration: ``41 s``, ``04:12``, ``1:02:33``."""
    if seconds is None:
        return DASH
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60:02d}:{rest % 60:02d}"


def clock(wall_s: float | None) -> str:
    """Time of day in UTC, as engines on most nodes stamp it; empty where it is not known."""
    return "" if wall_s is None else time.strftime("%H:%M:%S", time.gmtime(wall_s))


def unit(text: str, name: str, width: int = 0, style: str = "") -> Content:
    """A figure, right-aligned, and its unit behind it in grey."""
    return Content.assemble((f"{text:>{width}}", style), (f" {name}", "$muted"))


def bar(share: float | None, width: int, style: str) -> Content:
    """A thin bar: the part that is reached, then the rest."""
    part = 0 if share is None else round(min(max(share, 0.0), 1.0) * width)
    if share and not part:
        part = 1
    return Content.assemble(("━" * part, style), ("─" * (width - part), "$line"))
