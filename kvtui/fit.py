"""How many documents a tier gives back: what LMCache does with its capacity, not a ratio."""

from __future__ import annotations

from kvtui.kvsize import KvShape
from kvtui.plan import Plan, Tier, TierKind, Topology

GIB = 1024**3


def capacity_bytes(capacity_gib: float) -> int:
    """Capacity in bytes; LMCache counts a "GB" as 1024³ (LMCache 0.5.4 ``local_cpu_backend.py``)."""
    return int(capacity_gib * GIB)


def working_set_bytes(plan: Plan, shape: KvShape) -> int:
    """Bytes that all documents of the plan take in a tier."""
    return plan.corpus.documents * shape.document_bytes(plan.corpus.tokens, plan.hash.chunk_tokens)


def expected_reuse(tier: Tier, topology: Topology, documents: int, document_bytes: int) -> int:
    """Documents out of ``documents`` that a cached pass in the same order finds whole.

    A cyclic scan over a least-recently-used tier that is too small evicts each document just before it is
    asked for again, so the answer is all or none. A tier of a single node gives nothing to another node.
    Whether two nodes make the same keys is a question for the engines' fingerprints, not for this function.
    """
    if tier.kind is TierKind.NONE or document_bytes == 0 or tier.capacity_gib is None:
        return 0
    if topology is Topology.FLEET and tier.kind is not TierKind.VALKEY:
        return 0
    return documents if documents * document_bytes <= capacity_bytes(tier.capacity_gib) else 0


def staging_gib(tier: Tier, longest_request_bytes: int) -> float:
    """Size of LMCache's DRAM buffer for a tier, in GiB.

    The DRAM tier is that buffer. Beside another tier it holds chunks on their way: stores that do not fit are
    dropped without a wait (LMCache 0.5.4 ``v1/cache_engine.py``), so it takes four of the longest requests.
    """
    if tier.kind is TierKind.DRAM and tier.capacity_gib is not None:
        return tier.capacity_gib
    return max(0.25, round(4 * longest_request_bytes / GIB, 3))
