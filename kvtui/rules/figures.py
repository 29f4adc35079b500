"""What a node's own figures say while a run goes on."""

from __future__ import annotations

from dataclasses import dataclass

from kvtui.findings import Finding, Level
from kvtui.units import gib

# Below this the system gives up page cache, then swaps, then kills; each of them changes what is measured.
MARGIN_SHARE = 0.04
MARGIN_LEAST_BYTES = 512 * 1024**2


@dataclass(slots=True)
class MemoryMargin:
    """How near a node's host memory came to its end.

    Attributes:
        node: Its name.
        count: Samples below the margin.
        least_bytes: The least that was available in them.
        total_bytes: Its memory then.
        wall_s: When it was below first and last.
    """

    node: str
    count: int = 0
    least_bytes: float = float("inf")
    total_bytes: float = 0.0
    wall_s: tuple[float, float] | None = None

    def take(self, wall_s: float, available_bytes: float | None, total_bytes: float | None) -> None:
        """Note one sample; an unknown figure says nothing."""
        if available_bytes is None or not total_bytes:
            return
        if available_bytes >= max(total_bytes * MARGIN_SHARE, MARGIN_LEAST_BYTES):
            return
        self.count += 1
        if available_bytes < self.least_bytes:
            self.least_bytes, self.total_bytes = available_bytes, total_bytes
        self.wall_s = (self.wall_s or (wall_s, wall_s))[0], wall_s

    def finding(self) -> Finding | None:
        """The finding, if memory ran low."""
        if not self.count:
            return None
        text = f"Only {gib(self.least_bytes)} of {gib(self.total_bytes)} of host memory were left."
        remedy = "Make the DRAM tier or the staging buffers smaller: a system without memory swaps or kills."
        return Finding(Level.WARNING, "memory-low", text, remedy, self.node)
