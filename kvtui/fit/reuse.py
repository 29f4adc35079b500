"""How many documents a tier gives back, and the least capacity that keeps them all."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from kvtui.engine_options import step_tokens
from kvtui.fit import store
from kvtui.fit.capacity import block_bytes, capacity_bytes
from kvtui.fit.policies import Policy
from kvtui.fit.scan import GATE_DOCUMENTS, Scan, run_earlier
from kvtui.fit.simulate import Disk, Dram, Hits, Writes, run, whole
from kvtui.kvsize import KvShape
from kvtui.plan import Plan, Tier, TierKind, Topology


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


def simulate(
    kind: TierKind, scan: Scan, chunk_bytes: int, size_bytes: int, policy: Policy = Policy.LRU
) -> tuple[Hits, ...]:
    """Chunks found of every document in every pass, for each way in which a tier's writes may fall.

    Args:
        kind: DRAM or disk.
        scan: What is asked.
        chunk_bytes: Size of a chunk of one rank.
        size_bytes: The tier's capacity; every rank has it.
        policy: LMCache's ``cache_policy``.
    """
    blocks = size_bytes // block_bytes(chunk_bytes)
    if kind is TierKind.DRAM:
        return (run(Dram(blocks, policy), scan),)
    if blocks >= (scan.documents + len(set(scan.earlier))) * scan.chunks:
        return (run(Disk(blocks, policy, Writes.IN_ORDER), scan),)
    # With LRU and FIFO nothing of a step is given up within it, so it does not matter when it is written.
    at_once = [Disk(blocks, policy, Writes.AT_ONCE)] if policy in (Policy.LFU, Policy.MRU) else []
    mixed = [Disk(blocks, policy, Writes.MIXED, seed) for seed in range(3 - len(at_once))]
    return tuple(run(disk, scan) for disk in (Disk(blocks, policy, Writes.IN_ORDER), *mixed, *at_once))


def predict(
    tier: Tier,
    topology: Topology,
    scan: Scan,
    shape: KvShape,
    policy: Policy = Policy.LRU,
    store_policy: str = "noeviction",
) -> tuple[Reuse, ...]:
    """What each cached pass of a scan finds in a tier.

    Requests come one at a time. A tier of a single node gives nothing to another node; whether two nodes make
    the same keys is a question for the engines' fingerprints, not for this function.

    Args:
        tier: The tier with its capacity: every rank's own for DRAM and disk, the server's for Valkey.
        topology: Where the cached passes run.
        scan: What is asked.
        shape: The model's KV.
        policy: LMCache's ``cache_policy``.
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
    ways = simulate(tier.kind, scan, chunk_bytes, size_bytes, policy)
    spans = [[whole(way[number], scan.chunks) for way in ways] for number in range(1, scan.passes)]
    found = tuple(Reuse(min(counts), max(counts), of) for counts in spans)
    if tier.kind is TierKind.DISK and size_bytes < smallest_capacity_bytes(tier, scan, shape, policy):
        at_once = size_bytes // block_bytes(chunk_bytes) // scan.chunks
        return _races(found, policy, min(of, at_once))
    return found


def _races(found: tuple[Reuse, ...], policy: Policy, at_once: int) -> tuple[Reuse, ...]:
    """Widen what depends on how fast files are written, in a disk tier that must evict.

    LRU and FIFO give up the oldest chunks, long written. LFU and MRU reach for chunks of the very step that
    is being stored: LFU may pick one that is not there yet, which breaks the engine, and with both the passes
    after the first cached one vary. Whatever happens, a pass that asks for each document once finds whole
    only those that fit at once.
    """
    if policy in (Policy.LRU, Policy.FIFO) or not found:
        return found
    low = 0 if policy is Policy.LFU else found[0].low
    first = Reuse(low, found[0].high, found[0].of)
    return (first, *(Reuse(0, at_once, reuse.of) for reuse in found[1:]))


def smallest_capacity_bytes(tier: Tier, scan: Scan, shape: KvShape, policy: Policy = Policy.LRU) -> int:
    """The capacity from which on a tier keeps every document, whatever the order of the cached passes.

    All chunks must be there when the cold pass ends. LRU and FIFO have then given up what was there before;
    LFU keeps those of the earlier documents that were asked for again, MRU all of them (a lone document may
    do with less). For Valkey it is a capacity that surely suffices, since the server's own overhead is not
    known.

    Args:
        tier: The tier; its capacity does not matter.
        scan: What is asked.
        shape: The model's KV.
        policy: LMCache's ``cache_policy``.
    """
    if tier.kind is TierKind.NONE or scan.chunks == 0:
        return 0
    if tier.kind is TierKind.VALKEY:
        return store.enough_bytes(scan, shape, tier.workers)
    asked = Counter(scan.earlier)
    kept = 0
    if policy is Policy.LFU:
        kept = sum(times > 1 for times in asked.values())
    if policy is Policy.MRU:
        kept = len(asked)
    return (scan.documents + kept) * scan.chunks * block_bytes(shape.chunk_bytes(scan.chunk_tokens))


def plan_scan(plan: Plan, *, gated: bool = True) -> Scan:
    """What a run of the plan asks of a tier.

    Args:
        plan: The plan.
        gated: Whether two documents prove the tier before the cold pass.

    Raises:
        PlanError: An option in ``extra_args`` has a value that the engine cannot take.
    """
    return Scan(
        documents=plan.corpus.documents,
        tokens=plan.corpus.tokens,
        chunk_tokens=plan.hash.chunk_tokens,
        step_tokens=step_tokens(plan.engine.extra_args),
        earlier=run_earlier(gated=gated),
    )


def gate_passes(plan: Plan, tier: Tier, topology: Topology, shape: KvShape) -> bool:
    """Whether the tier surely gives back two documents, so that a gate before the passes proves something."""
    scan = Scan(GATE_DOCUMENTS, plan.corpus.tokens, plan.hash.chunk_tokens)
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
