"""What a screen shows of a run at one moment, in plain values.

Everywhere ``None`` means unknown: a screen shows a dash for it, never 0. Rates and ceilings are bytes a
second, sizes bytes, times milliseconds or seconds as their names say.
"""

from __future__ import annotations

from dataclasses import dataclass

from kvtui.live.rates import NodeStrip, StoreStrip, Throughput
from kvtui.live.standing import Head, TierMark
from kvtui.live.times import HistogramData, Series, TierParts
from kvtui.live.told import LiveFinding, LogHead


@dataclass(frozen=True, slots=True)
class LiveView:
    """Everything that the Live screen shows at one moment.

    Attributes:
        head: Where the run stands.
        tiers: Every tier and topology of the plan, in the plan's order.
        histogram: Of the shown tier and topology.
        multiples: Of all that have samples, for small multiples.
        series: Of the shown tier and topology.
        parts: Of every tier that has samples, in the shown topology.
        throughput: Rates against ceilings.
        nodes: The engine nodes and the store's node.
        store: The store; ``None`` when the plan has none.
        findings: Worst first, then by time.
        logs: The logs that were fed.
    """

    head: Head
    tiers: tuple[TierMark, ...]
    histogram: HistogramData
    multiples: tuple[HistogramData, ...]
    series: Series
    parts: tuple[TierParts, ...]
    throughput: Throughput
    nodes: tuple[NodeStrip, ...]
    store: StoreStrip | None
    findings: tuple[LiveFinding, ...]
    logs: tuple[LogHead, ...]
