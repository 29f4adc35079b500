"""Traces in the style of Mooncake: no text, only lengths and the hashes of the blocks that requests share.

A line is ``{"timestamp": ms, "input_length": n, "output_length": n, "hash_ids": [...]}``. Each id names a
block of 512 tokens together with all before it; two requests that begin with the same ids begin with
the same tokens.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from corpus.chunks import DEFAULT_CHUNK_TOKENS
from corpus.errors import CorpusError

BLOCK_TOKENS = 512


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """A request of a trace.

    Attributes:
        source: File and line.
        timestamp_ms: When it came, from the beginning of the trace.
        input_tokens: Length of the prompt.
        output_tokens: Length of the answer.
        hash_ids: One for each block of the prompt, the last of which may be partly filled.
    """

    source: str
    timestamp_ms: float
    input_tokens: int
    output_tokens: int
    hash_ids: tuple[int, ...]


def trace_ids(request: TraceRequest, block: Callable[[int], Sequence[int]]) -> tuple[int, ...]:
    """Token ids that reproduce the request's length and what it shares with others.

    Args:
        request: A request of a trace.
        block: The ids of the block with a hash: always the same for the same hash, others for another.

    Raises:
        CorpusError: A block has fewer ids than are needed.
    """
    ids: list[int] = []
    for hash_id in request.hash_ids:
        wanted = min(BLOCK_TOKENS, request.input_tokens - len(ids))
        given = block(hash_id)
        if len(given) < wanted:
            raise CorpusError(
                f"{request.source}: block {hash_id} has {len(given)} tokens, but {wanted} are needed."
            )
        ids.extend(given[:wanted])
    return tuple(ids)


def expected_trace_hit_tokens(
    requests: Sequence[TraceRequest], chunk_tokens: int = DEFAULT_CHUNK_TOKENS
) -> tuple[int, ...]:
    """Tokens of each request that earlier ones left in a store that forgets nothing, in full chunks.

    Two requests share the blocks up to the first hash that differs, or up to the end of the shorter one.
    """
    reach: dict[bytes, int] = {}
    hits = []
    for request in requests:
        shared = 0
        chain = hashlib.sha256()
        for count, hash_id in enumerate(request.hash_ids, 1):
            chain.update(f"{hash_id},".encode())
            length = min(count * BLOCK_TOKENS, request.input_tokens)
            stored = reach.get(chain.digest(), 0)
            shared = max(shared, min(stored, length))
            reach[chain.digest()] = max(stored, length)
        hits.append(shared // chunk_tokens * chunk_tokens)
    return tuple(hits)
