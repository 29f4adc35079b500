"""Figures as a person reads them: one unit, no false digits, a dash for what is not known."""

from __future__ import annotations

from collections.abc import Sequence

DASH = "–"
GIB = 1024**3


def gib(size_bytes: float | None) -> str:
    """A size in GiB, or TiB from 1,000 GiB on."""
    if size_bytes is None:
        return DASH
    size = size_bytes / GIB
    if size >= 1000:
        return f"{size / 1024:.1f} TiB"
    return f"{size:.0f} GiB" if size >= 100 else f"{size:.1f} GiB"


def rate(bytes_s: float | None) -> str:
    """A rate in GB/s; in MB/s below a tenth of one."""
    if bytes_s is None:
        return DASH
    return f"{bytes_s / 1e9:.2f} GB/s" if bytes_s >= 1e8 else f"{bytes_s / 1e6:.1f} MB/s"


def line_rate(speed_mbit: int | None) -> str:
    """A network interface's line rate as its makers say it."""
    if not speed_mbit:
        return DASH
    return f"{speed_mbit / 1000:g}GbE" if speed_mbit >= 1000 else f"{speed_mbit}MbE"


def age(seconds: float) -> str:
    """An age in its largest unit."""
    for unit, name in ((86400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if seconds >= unit:
            return f"{seconds / unit:.0f} {name} ago"
    return f"{seconds:.0f} s ago"


def ms(value_ms: float | None) -> str:
    """A time in milliseconds."""
    if value_ms is None:
        return DASH
    return f"{value_ms:,.1f} ms" if value_ms < 100 else f"{value_ms:,.0f} ms"


def megabytes(size_bytes: float | None) -> str:
    """A size in MB of 1000², to a hundredth."""
    return DASH if size_bytes is None else f"{size_bytes / 1e6:,.2f} MB"


def named(names: Sequence[str], most: int = 3) -> str:
    """The first of some names, and whether there are more."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def with_repeat(name: str, repeat: int) -> str:
    """A name, and which repeat of the campaign it is of from the second on."""
    return f"{name} · repeat {repeat}" if repeat > 1 else name
