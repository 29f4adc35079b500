"""What was used on a node around one pass, from the samples and the requests that fall into it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from kvtui.live.counters import Counters, Reading, Window
from kvtui.live.numbers import number, whole
from kvtui.plan import TierKind
from kvtui.samples import Pass
from kvtui.validity.neighbours import PassUse

_MOVED = ("disk_read_bytes", "engine_read_bytes", "nic_rx_bytes", "store_rx_bytes")
_OTHERS = ("cpu_s", "read_bytes", "write_bytes")


@dataclass(slots=True)
class NodeWatch:
    """What other processes use on one node, as its watcher tells of it now and then."""

    counters: Counters = field(default_factory=Counters)
    cores: int | None = None

    def take(self, wall_s: float, event: dict[str, Any]) -> Others | None:
        """Note a sample; what it says of others, if it does."""
        self.cores = whole(event.get("cores")) or self.cores
        told = event.get("others")
        if not isinstance(told, dict):
            return None
        values = {name: value for name in _OTHERS if (value := number(told.get(name))) is not None}
        self.counters.take(Reading(wall_s, values))
        return Others(wall_s, str(told.get("cpu_top") or ""), str(told.get("disk_top") or ""))


@dataclass(frozen=True, slots=True)
class Others:
    """Who used most between two looks."""

    wall_s: float
    cpu: str
    disk: str


@dataclass(slots=True)
class PassWatch:
    """One pass.

    Attributes:
        where: Tier, topology and pass in words.
        node: The node that serves it.
        kind: Kind of the tier.
        step: Which pass.
        begin_wall_s: When it began.
        others: What the counts of others did around it.
        end_wall_s: When it ended; ``None`` while it goes on.
    """

    where: str
    node: str
    kind: TierKind
    step: Pass
    begin_wall_s: float
    others: Window
    end_wall_s: float | None = None
    _cpu: Counter[str] = field(default_factory=Counter)
    _disk: Counter[str] = field(default_factory=Counter)
    _moved: dict[str, float | None] = field(default_factory=dict)

    def end(self, wall_s: float) -> None:
        """It is over; the next look at others is the last that counts."""
        self.end_wall_s = self.others.end_wall_s = wall_s

    def name(self, seen: Others) -> None:
        """Note who used most, if that was while the pass went on."""
        if not self.others.closed or (self.others.last and self.others.last.wall_s == seen.wall_s):
            self._cpu[seen.cpu] += bool(seen.cpu)
            self._disk[seen.disk] += bool(seen.disk)

    def moved(self, told: Any) -> None:
        """Add what moved while a request was served; what is unknown of one is unknown of all."""
        for name in _MOVED:
            value = number(told.get(name)) if isinstance(told, dict) else None
            before = self._moved.get(name, 0.0)
            self._moved[name] = None if value is None or before is None else before + value

    def use(self, cores: int | None) -> PassUse:
        """What was used, all in all."""
        read, written = self.others.grown("read_bytes"), self.others.grown("write_bytes")
        return PassUse(
            where=self.where,
            node=self.node,
            kind=self.kind,
            step=self.step,
            cores=cores,
            others_cores=self.others.rate("cpu_s"),
            others_cpu=_most(self._cpu),
            others_disk_bytes=None if read is None or written is None else read + written,
            others_disk=_most(self._disk),
            **{name: self._moved.get(name) for name in _MOVED},
        )


def _most(names: Counter[str]) -> str:
    found = +names
    return found.most_common(1)[0][0] if found else ""
