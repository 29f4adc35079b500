"""How many documents a tier gives back, and the least capacity that keeps them all."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from kvtui.engine_options import step_tokens
from kvtui.fit import store
from kvtui.fit.capacity import block_bytes, capacity_bytes
from kvtui.fit.scan import GATE_DOCUMENTS, Scan, run_earlier
from kvtui.fit.simulate import Disk, DiskByFrequency, Dram, Hits, run, whole
from kvtui.kvsize import KvShape
from kvtui.plan import Order, Plan, Policy, Tier, TierKind, Topology

# Orders in which the files of a step may be written, tried beside that of the chunks.
_MIXED_WAYS = 3
# A larger working set would take too long to play through while a person types.
_PLAYED_CHUNKS = 10_000


@dataclass(frozen=True, slots=True)
class Reuse:
    """Documents that a cached pass finds whole.

    Attributes:
        low: Fewest.
        high: Most; equal to ``low`` where the tier's behaviour is exact.
        of: Documents asked for.
        refused: Whether the server may refuse values with an error.
    """

    low: int
    high: int
    of: int
    refused: bool = False

    @property
    def certain(self) -> bool:
        """Whether every document is surely found."""
        return self.low == self.of

    def __str__(self) -> str:
        """The reuse as ``n/N`` or ``n-m/N``."""
        return f"{self.low}/{self.of}" if self.low == self.high else f"{self.low}–{self.high}/{self.of}"


def _in_vain(tier: Tier, scan: Scan, blocks: int) -> bool:
    """Whether a single cached pass surely finds nothing in a tier that is too small.

    Where both passes have one order, the oldest document is always the next to be asked for. Files that are
    written out of order may save a document on disk, but not where a whole one is missing.
    """
    circle = scan.order is Order.SAME and scan.passes == 2 and tier.policy in (Policy.LRU, Policy.FIFO)
    missing = scan.working_chunks - blocks
    return (
        circle and scan.shared_chunks == 0 and missing >= (scan.chunks if tier.kind is TierKind.DISK else 1)
    )


def _exactly(hits: Hits, scan: Scan) -> tuple[Reuse, ...]:
    counts = [whole(row, scan.chunks) for row in hits[1:]]
    return tuple(Reuse(count, count, scan.documents) for count in counts)


def _disk(scan: Scan, chunk_bytes: int, size_bytes: int, policy: Policy) -> tuple[Reuse, ...]:
    """What each cached pass finds on disk: an interval where it depends on how fast files are written.

    A step's files are written by several threads in any order, so a document at the border may be found or
    not, and the passes after that differ from one run to the next. Worse with MRU, which always reaches for
    the step's own chunks, and with LFU where it does: if it picks one that is not there yet, LMCache 0.5.4
    fails. Whatever happens, a pass that asks for each document once finds whole only those that fit.
    """
    cached, of = range(1, scan.passes), scan.documents
    blocks = size_bytes // block_bytes(chunk_bytes)
    open_ = Reuse(0, scan.fitting(blocks), of)
    if policy is Policy.MRU:
        return (open_,) * len(cached)
    if policy is Policy.LFU:
        by_frequency = DiskByFrequency(blocks)
        hits = run(by_frequency, scan)
        return (open_,) * len(cached) if by_frequency.open else _exactly(hits, scan)
    ways = [run(Disk(blocks, policy, mixed), scan) for mixed in (None, *range(_MIXED_WAYS))]
    found: list[Reuse] = []
    agreed = True
    for number in cached:
        counts = [whole(way[number], scan.chunks) for way in ways]
        found.append(Reuse(min(counts), max(counts), of) if agreed else open_)
        agreed = agreed and len({way[number] for way in ways}) == 1
    return tuple(found)


def predict(
    tier: Tier,
    topology: Topology,
    scan: Scan,
    shape: KvShape,
    store_policy: str = "noeviction",
) -> tuple[Reuse, ...]:
    """What each cached pass of a scan finds in a tier.

    Requests come one at a time. A tier of a single node gives nothing to another node; whether two nodes make
    the same keys is a question for the engines' fingerprints, not for this function.

    Args:
        tier: The tier: every rank's own capacity for DRAM and disk, the server's for Valkey.
        topology: Where the cached passes run.
        scan: What is asked.
        shape: The model's KV.
        store_policy: The server's ``maxmemory-policy``.
    """
    cached, of = scan.passes - 1, scan.documents
    if tier.capacity_gib is None or (topology is Topology.FLEET and tier.kind is not TierKind.VALKEY):
        return (Reuse(0, 0, of),) * cached
    size_bytes = capacity_bytes(tier.capacity_gib)
    if tier.kind is TierKind.VALKEY:
        low, high = store.bounds(scan, shape, size_bytes, store_policy, tier.workers)
        refused = low < of and store_policy not in store.EVICTING
        return (Reuse(low, high, of, refused),) * cached
    chunk_bytes = shape.chunk_bytes(scan.chunk_tokens)
    blocks = size_bytes // block_bytes(chunk_bytes)
    if scan.chunks == 0 or size_bytes >= smallest_capacity_bytes(tier, scan, shape):
        kept = of if scan.chunks else 0
        return (Reuse(kept, kept, of),) * cached
    if _in_vain(tier, scan, blocks):
        return (Reuse(0, 0, of),)
    if of * scan.chunks > _PLAYED_CHUNKS:
        return (Reuse(0, scan.fitting(blocks), of),) * cached
    if tier.kind is TierKind.DISK:
        return _disk(scan, chunk_bytes, size_bytes, tier.policy)
    return _exactly(run(Dram(blocks, tier.policy), scan), scan)


def kept_chunks(policy: Policy, scan: Scan) -> int:
    """Chunks of earlier documents that DRAM or disk still holds after a cold pass that fills it.

    LRU and FIFO give up what was there before; LFU keeps what was asked for again, MRU all of it.
    """
    asked = Counter(scan.earlier)
    if policy is Policy.LFU:
        return sum(times > 1 for times in asked.values()) * scan.chunks
    return len(asked) * scan.chunks if policy is Policy.MRU else 0


def smallest_capacity_bytes(tier: Tier, scan: Scan, shape: KvShape) -> int:
    """The capacity from which on a tier keeps every document, whatever the order of the cached passes.

    All chunks must be there when the cold pass ends, beside those of earlier documents that the policy keeps
    (a lone document, or one with a prefix, may do with less). For Valkey it is a capacity that surely
    suffices, since the server's own overhead is not known.

    Args:
        tier: The tier; its capacity does not matter.
        scan: What is asked.
        shape: The model's KV.
    """
    if tier.kind is TierKind.NONE or scan.chunks == 0:
        return 0
    if tier.kind is TierKind.VALKEY:
        return store.enough_bytes(scan, shape, tier.workers)
    chunks = scan.working_chunks + kept_chunks(tier.policy, scan)
    return chunks * block_bytes(shape.chunk_bytes(scan.chunk_tokens))


def plan_scan(plan: Plan, *, gated: bool = True, repeat: int = 1) -> Scan:
    """What a run of the plan asks of a tier in one repeat.

    What is found does not depend on the repeat: only the documents change places with each other, and they
    are all of one length.

    Args:
        plan: The plan.
        gated: Whether two documents prove the tier before the cold pass.
        repeat: Which repeat, from 1.

    Raises:
        PlanError: An option in ``extra_args`` has a value that the engine cannot take.
    """
    return Scan(
        documents=plan.corpus.documents,
        tokens=plan.corpus.prompt_tokens,
        prefix_tokens=plan.corpus.prefix_tokens,
        chunk_tokens=plan.hash.chunk_tokens,
        order=plan.passes.order,
        seed=plan.passes.shuffle_seed,
        step_tokens=step_tokens(plan.engine.extra_args),
        earlier=run_earlier(gated=gated),
        cold_shuffled=plan.passes.cold_order == "shuffled",
        repeat=repeat,
    )


def gate_passes(plan: Plan, tier: Tier, topology: Topology, shape: KvShape) -> bool:
    """Whether the tier surely gives back two documents, so that a gate before the passes proves something."""
    scan = Scan(GATE_DOCUMENTS, plan.corpus.prompt_tokens, plan.hash.chunk_tokens)
    return predict(tier, topology, scan, shape)[0].certain


def plan_reuse(
    plan: Plan, tier: Tier, topology: Topology, shape: KvShape, store_policy: str = "noeviction"
) -> Reuse:
    """What the cached pass of a run finds in one of the plan's tiers.

    Raises:
        PlanError: An option in ``extra_args`` has a value that the engine cannot take.
    """
    scan = plan_scan(plan, gated=gate_passes(plan, tier, topology, shape))
    return predict(tier, topology, scan, shape, store_policy=store_policy)[0]
