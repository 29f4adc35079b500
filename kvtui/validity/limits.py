"""The ceilings of a run: how old they were, and what went faster than they allow, or far slower."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kvtui.ceilings import Ceiling
from kvtui.findings import Finding, Level
from kvtui.live.throughput import ABOVE_CEILING, path_ceiling
from kvtui.plan import TierKind
from kvtui.units import age

# A machine changes from one day to the next: neighbours, firmware, other people's disks.
_OLD_S = 24 * 3600.0
# The rate of fewer reads says as much of the moment as of the path.
_READS = 5
# A tier's software may take most of what its path gives; so little is left by a throttle or a neighbour.
_FAR_BELOW = 0.1
_THROTTLED = (TierKind.DISK, TierKind.VALKEY)


@dataclass(slots=True)
class Reads:
    """What a cached pass read by LMCache's lines.

    Attributes:
        kind: Kind of the tier.
        node: The node that read.
        end_wall_s: When the last request was judged.
        count: Requests that read.
        size_bytes: How much.
        seconds: In how much time.
    """

    kind: TierKind
    node: str
    end_wall_s: float | None = None
    count: int = 0
    size_bytes: float = 0.0
    seconds: float = 0.0


def limit_findings(reads: Reads, ceilings: Sequence[Ceiling], where: str) -> tuple[Finding, ...]:
    """What the ceiling of a tier's path says of a pass."""
    path = path_ceiling(reads.kind, ceilings, reads.node)
    if path is None or path.bytes_s <= 0 or not reads.size_bytes or reads.seconds <= 0:
        return ()
    found = []
    if reads.end_wall_s is not None and path.age_s(reads.end_wall_s) > _OLD_S:
        text = (
            f"The ceiling of its path was measured {age(path.age_s(reads.end_wall_s))} when the pass ended."
        )
        found.append(
            Finding(Level.INFO, "ceiling-old", text, "Measure it again: kvtui nodes probe --ceilings.", where)
        )
    rate, high = reads.size_bytes / reads.seconds, max(path.bytes_s, path.high_bytes_s)
    if reads.count >= _READS and rate > high * ABOVE_CEILING:
        text = (
            f"It was read at {rate / 1024**3:.2f} GiB/s, and its path gave {high / 1024**3:.2f} at best when "
            f"it was measured ({path.how})."
        )
        remedy = (
            "Another way of reading may be faster; whether the page cache helped, the device's count says."
        )
        found.append(Finding(Level.INFO, "faster-than-ceiling", text, remedy, where))
    ways = [one for one in ceilings if (one.node, one.what) == (path.node, path.what) and one.bytes_s > 0]
    slowest = min(ways, key=lambda way: way.bytes_s)
    if reads.count >= _READS and reads.kind in _THROTTLED and rate < slowest.bytes_s * _FAR_BELOW:
        share = rate / slowest.bytes_s
        text = (
            f"It was read at {rate / 1e6:,.0f} MB/s, {share * 100:.0f} % of what the slowest way gave when "
            f"its path was measured, {slowest.bytes_s / 1e6:,.0f} MB/s ({slowest.how})."
        )
        remedy = "Look for a limit on it, and for others who use it: this is not the tier's own speed."
        found.append(Finding(Level.WARNING, "below-ceiling", text, remedy, where))
    return tuple(found)
