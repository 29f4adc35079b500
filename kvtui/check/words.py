"""Sizes and times in the words of a finding."""

from __future__ import annotations

from kvtui.fit import GIB

MIB = 1024**2


def gib(size_bytes: int) -> str:
    """A size in GiB, in MiB where it is small."""
    if size_bytes < GIB // 10:
        return f"{size_bytes / MIB:,.4g} MiB"
    return f"{size_bytes / GIB:,.1f} GiB" if size_bytes >= GIB else f"{size_bytes / GIB:,.3f} GiB"


def rate(bytes_s: float) -> str:
    """A rate in the unit of data sheets."""
    return f"{bytes_s / 1e9:.2f} GB/s" if bytes_s >= 1e7 else f"{bytes_s / 1e6:.3g} MB/s"


def ms(value: float) -> str:
    """A time, with a decimal only where it tells something."""
    return f"{value:,.1f} ms" if value < 100 else f"{value:,.0f} ms"


def number(value: float) -> str:
    """A figure as a person writes it into a plan."""
    return f"{value:g}" if value < 10_000 else f"{value:.0f}"
