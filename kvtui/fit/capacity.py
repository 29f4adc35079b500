"""Capacities in bytes, and what the documents of a plan take of them."""

from __future__ import annotations

from kvtui.kvsize import KvShape
from kvtui.plan import Plan, Tier, TierKind

GIB = 1024**3
# LMCache 0.5.4 ``v1/memory_management.py``, ``AddressManager.ALIGN_BYTES``.
ALIGNMENT_BYTES = 4096
_GIB_STEPS = 10_000


def capacity_bytes(capacity_gib: float) -> int:
    """Capacity in bytes; LMCache counts a "GB" as 1024³ (LMCache 0.5.4 ``local_cpu_backend.py``)."""
    return int(capacity_gib * GIB)


def least_gib(size_bytes: int) -> float:
    """The least capacity of four digits that holds so many bytes, in GiB."""
    return -(-size_bytes * _GIB_STEPS // GIB) / _GIB_STEPS


def block_bytes(chunk_bytes: int) -> int:
    """Bytes that a chunk takes of a DRAM or disk tier; its allocator aligns them."""
    return -(-chunk_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def working_set_bytes(plan: Plan, shape: KvShape) -> int:
    """Bytes that all documents of the plan take in a tier, over all ranks; a prefix takes them once."""
    chunk, corpus = plan.hash.chunk_tokens, plan.corpus
    shared_bytes = shape.document_bytes(corpus.prefix_tokens, chunk)
    whole_bytes = shape.document_bytes(corpus.prompt_tokens, chunk)
    return shared_bytes + corpus.documents * (whole_bytes - shared_bytes)


def staging_gib(tier: Tier, longest_request_bytes: int) -> float:
    """Size of LMCache's DRAM buffer for a tier, in GiB; every rank has one.

    The DRAM tier is that buffer. Beside another tier it holds chunks on their way: stores that do not fit are
    dropped without a wait (LMCache 0.5.4 ``v1/cache_engine.py``), so it takes four of the longest requests.
    """
    if tier.kind is TierKind.DRAM and tier.capacity_gib is not None:
        return tier.capacity_gib
    return max(0.25, round(4 * longest_request_bytes / GIB, 3))
