"""What a Valkey server gives back: an interval where nobody can tell."""

from __future__ import annotations

from kvtui.fit.scan import Scan
from kvtui.kvsize import KvShape

# A value takes its bytes and, by the allocator that the server was built with, up to a size class of
# jemalloc, four to a doubling. Measured with libc's allocator: 4,200 bytes a key beside the value.
_KEY_BYTES = 8192
_SERVER_BYTES = 4 * 1024**2
EVICTING = frozenset({"allkeys-lru", "allkeys-lfu", "allkeys-random"})


def most_value_bytes(value_bytes: int) -> int:
    """The most memory that one value of so many bytes takes, its key included."""
    size = value_bytes + 16
    step = max(4096, 1 << (size.bit_length() - 3))
    return max(-(-size // step) * step, value_bytes) + _KEY_BYTES


def bounds(scan: Scan, shape: KvShape, capacity_bytes: int, policy: str, workers: int) -> tuple[int, int]:
    """Fewest and most documents that a cached pass finds whole.

    A server that is full refuses the next value, or, with an ``allkeys`` policy, gives up keys that it picks
    from a sample: then any number up to those that fit at once. LMCache gives its keys no lifetime, so the
    ``volatile`` policies refuse too.

    Args:
        scan: What is asked.
        shape: The model's KV.
        capacity_bytes: Memory for this working set.
        policy: The server's ``maxmemory-policy``.
        workers: Connections of each rank; each may hold a value on its way in and one on its way out.
    """
    if scan.chunks == 0:
        return 0, 0
    value = shape.chunk_bytes(scan.chunk_tokens)
    on_the_way = 2 * workers * shape.storing_ranks * value + _SERVER_BYTES
    room_bytes = max(0, capacity_bytes - on_the_way) // shape.storing_ranks
    surely = scan.fitting(room_bytes // most_value_bytes(value))
    at_most = scan.fitting(capacity_bytes // shape.storing_ranks // value)
    if surely >= scan.documents:
        return scan.documents, scan.documents
    return (0 if policy in EVICTING else surely), at_most


def enough_bytes(scan: Scan, shape: KvShape, workers: int) -> int:
    """A capacity that surely keeps every document."""
    value = shape.chunk_bytes(scan.chunk_tokens)
    keys = scan.working_chunks * shape.storing_ranks
    return keys * most_value_bytes(value) + 2 * workers * shape.storing_ranks * value + _SERVER_BYTES
