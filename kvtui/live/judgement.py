"""Findings that the figures alone make: what a run's own samples contradict, lose, or pay for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kvtui.attribution import Verdict
from kvtui.findings import Finding, Level
from kvtui.live.book import BlockBook
from kvtui.live.throughput import page_cache_sentence
from kvtui.plan import Tier, TierKind, Topology
from kvtui.rules.figures import MemoryMargin

# A price of storing below this part of the prefill is within what runs differ by.
_PRICE_FROM = 0.2
# A GPU that is fully at work runs into its power cap all day.
POWER_CAP = "power cap"
_NODE_LOCAL = (TierKind.DRAM, TierKind.DISK)


@dataclass(frozen=True, slots=True)
class Judged:
    """One tier in one topology, as far as it was measured.

    Attributes:
        tier: The tier.
        topology: Where.
        documents: Documents of the plan.
        book: Its requests.
        working_set_bytes: KV of all documents; ``None`` when the size of a token is not known.
        bare_cold_ms: Cold median of the tier without a cache.
        evicted: Keys that the store gave up during the cold pass.
        retrieved_bytes: What the cached pass read by LMCache's lines.
        device_bytes: What the engine read from a device meanwhile.
        anomaly: What is peculiar about the first requests.
    """

    tier: Tier
    topology: Topology
    documents: int
    book: BlockBook
    working_set_bytes: int | None = None
    bare_cold_ms: float | None = None
    evicted: float | None = None
    retrieved_bytes: float | None = None
    device_bytes: float | None = None
    anomaly: str = ""

    @property
    def where(self) -> str:
        """Tier, repeat and topology in words."""
        return f"{self.book.block.words} · {self.topology}"


def figure_findings(judged: Judged) -> tuple[Finding, ...]:
    """Everything that the figures of a tier in one topology say by themselves."""
    if judged.tier.kind is TierKind.NONE:
        return ()
    return (*_lost(judged), *_slow(judged), *_contradicting(judged), *_cost(judged))


def _lost(judged: Judged) -> Iterator[Finding]:
    cached = judged.book.cached[judged.topology.value]
    full, count = cached.verdicts.get(Verdict.FULL, 0), cached.judged
    local = judged.topology is Topology.FLEET and judged.tier.kind in _NODE_LOCAL
    if count < judged.documents or full >= count or local:
        return
    text, remedy = f"{judged.tier.name} kept {full} of {count} documents.", ""
    size, capacity = judged.working_set_bytes, judged.tier.capacity_gib
    if size is not None and capacity is not None and size > capacity * 1024**3:
        text += f" Their KV is {size / 1024**3:,.2f} GiB, the tier has {capacity:,.2f} GiB."
        remedy = f"Give it more than {size / 1024**3:,.2f} GiB, or measure fewer documents."
    yield Finding(Level.WARNING, "reuse-lost", text, remedy, judged.where)


def _slow(judged: Judged) -> Iterator[Finding]:
    cached = judged.book.cached[judged.topology.value]
    interval = judged.book.speedup[judged.topology.value].interval()
    reused = cached.verdicts.get(Verdict.FULL, 0) == cached.judged > 0
    if not reused or interval is None or interval.high >= 1:
        return
    median = judged.book.speedup[judged.topology.value].median
    rate = cached.retrieve_bytes_s
    reads = f" It reads {rate / 1024**3:.2f} GiB/s." if rate else ""
    text = f"{judged.tier.name} is slower than prefill: {median:.2f}× with all KV reused.{reads}"
    yield Finding(
        Level.WARNING, "slower-than-prefill", text, "Do not keep KV of this model there.", judged.where
    )


def _contradicting(judged: Judged) -> Iterator[Finding]:
    cached, cold = judged.book.cached[judged.topology.value], judged.book.cold
    if cached.hit_not_read:
        text = (
            f"{cached.hit_not_read} of {cached.judged} requests had hits at lookup that were never all read."
        )
        remedy = "Look at their log lines: an eviction between lookup and read, or a read that failed."
        yield Finding(Level.WARNING, "hit-not-read", text, remedy, judged.where)
    if cached.recovered:
        text = f"{cached.recovered} requests computed again what could not be read."
        yield Finding(Level.WARNING, "load-recovered", text, "Their TTFT is no cached one.", judged.where)
    if judged.evicted:
        text = f"The store gave up {judged.evicted:,.0f} keys during the cold pass."
        remedy = "Give it more memory, or measure fewer documents: what was given up is not there to reuse."
        yield Finding(Level.WARNING, "evicted-in-cold", text, remedy, judged.where)
    if cold.stored_in_part:
        text = f"{cold.stored_in_part} of {cold.judged} documents of the cold pass were stored only in part."
        remedy = "LMCache had no room to stage them: raise max_local_cpu_size."
        yield Finding(Level.WARNING, "stored-in-part", text, remedy, judged.where)
    cache = page_cache_sentence(judged.tier.kind, judged.retrieved_bytes, judged.device_bytes)
    if cache:
        remedy = "The disk itself was not measured: make the files cold before the cached pass."
        yield Finding(Level.WARNING, "page-cache", cache, remedy, judged.where)


def _cost(judged: Judged) -> Iterator[Finding]:
    cold_ms, bare_ms = judged.book.cold.ttft.median, judged.bare_cold_ms
    if cold_ms is not None and bare_ms and cold_ms - bare_ms > bare_ms * _PRICE_FROM:
        text = (
            f"Storing costs a cold request {cold_ms - bare_ms:,.0f} ms: {cold_ms:,.0f} ms, "
            f"and {bare_ms:,.0f} ms without a cache."
        )
        yield Finding(Level.INFO, "price-of-storing", text, "", judged.where)
    if judged.anomaly:
        yield Finding(Level.INFO, "first-requests-differ", judged.anomaly, "", judged.where)


@dataclass(slots=True)
class NodeTroubles:
    """What the samples of one node have shown of trouble, and when.

    Attributes:
        node: Its name.
        swap: Most swap in use.
        swap_grew: Whether it grew while the run went on.
        throttled: Samples in which a GPU was slowed down.
        reason: Why; another reason than the power cap is kept before it.
        swap_wall_s: When swap was seen first and last.
        throttle_wall_s: When throttling was.
        memory: How near its host memory came to its end.
    """

    node: str
    swap: float = 0.0
    swap_grew: bool = False
    throttled: int = 0
    reason: str = ""
    swap_wall_s: tuple[float, float] | None = None
    throttle_wall_s: tuple[float, float] | None = None
    memory: MemoryMargin = field(init=False)
    _first_swap: float | None = None

    def __post_init__(self) -> None:
        self.memory = MemoryMargin(self.node)

    def take(self, wall_s: float, swap_used_bytes: float | None, throttles: tuple[str, ...]) -> None:
        """Note one sample."""
        if swap_used_bytes is not None:
            if self._first_swap is None:
                self._first_swap = swap_used_bytes
            self.swap = max(self.swap, swap_used_bytes)
            self.swap_grew = self.swap_grew or swap_used_bytes > self._first_swap + 16 * 1024**2
            if swap_used_bytes > 0:
                self.swap_wall_s = (self.swap_wall_s or (wall_s, 0.0))[0], wall_s
        reasons = [reason for reason in throttles if reason]
        if reasons:
            self.throttled += 1
            if self.reason in ("", POWER_CAP):
                self.reason = reasons[0]
            self.throttle_wall_s = (self.throttle_wall_s or (wall_s, 0.0))[0], wall_s

    def findings(self) -> Iterator[tuple[Finding, int, tuple[float, float] | None]]:
        """Each finding with its count and its times."""
        low = self.memory.finding()
        if low is not None:
            yield low, self.memory.count, self.memory.wall_s
        if self.swap > 0:
            level = Level.WARNING if self.swap_grew else Level.INFO
            grew = "and grew while the run went on" if self.swap_grew else "and did not grow"
            text = f"Swap is in use: {self.swap / 1024**3:,.2f} GiB, {grew}."
            remedy = "Free memory before measuring: a DRAM tier that is swapped out is no DRAM tier."
            yield Finding(level, "swap-in-use", text, remedy, self.node), 1, self.swap_wall_s
        if self.throttled:
            level = Level.INFO if self.reason == POWER_CAP else Level.WARNING
            text = f"A GPU was held back: {self.reason}."
            remedy = "Its prefill was not at full speed, so speedups look too good."
            yield (
                Finding(level, "gpu-throttled", text, remedy, self.node),
                self.throttled,
                self.throttle_wall_s,
            )
