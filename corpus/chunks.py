"""Which chunks of token ids two documents have in common, and what an earlier request leaves for a later one.

LMCache names a chunk by its ids and by all ids before it (``TokenDatabase`` of lmcache 0.5.4), and stores
full chunks only. So two documents can hit each other in their common beginning and nowhere else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corpus.tokens import TokenDocument, ids_bytes

DEFAULT_CHUNK_TOKENS = 256


@dataclass(frozen=True, slots=True)
class SharedChunk:
    """A chunk that two documents have in common.

    Attributes:
        first_id: The document that comes first in the corpus.
        first_chunk: Place of the chunk in it, from 0.
        second_id: The later document.
        second_chunk: Place of the chunk in that.
        hit: True when everything before the chunk is the same too: the second document would find it in the
            store although it was never sent before.
    """

    first_id: str
    first_chunk: int
    second_id: str
    second_chunk: int
    hit: bool


def full_chunks(tokens: int, chunk_tokens: int = DEFAULT_CHUNK_TOKENS) -> int:
    """How many full chunks so many tokens fill; the rest is computed anew each time."""
    return tokens // chunk_tokens


def shared_chunks(
    documents: Sequence[TokenDocument], chunk_tokens: int = DEFAULT_CHUNK_TOKENS
) -> tuple[SharedChunk, ...]:
    """Every full chunk of a document whose ids an earlier document has too, wherever it stands in the two."""
    owners: dict[bytes, tuple[int, int]] = {}
    chains: dict[bytes, int] = {}
    found: list[SharedChunk] = []
    for number, document in enumerate(documents):
        for place, (chunk, chain) in enumerate(_chunks(document.token_ids, chunk_tokens)):
            owner = chains.setdefault(chain, number)
            first, first_place = owners.setdefault(chunk, (number, place))
            if owner != number:
                found.append(
                    SharedChunk(documents[owner].document_id, place, document.document_id, place, True)
                )
            elif first != number:
                found.append(
                    SharedChunk(documents[first].document_id, first_place, document.document_id, place, False)
                )
    return tuple(found)


def expected_hit_tokens(
    requests: Sequence[Sequence[int]], chunk_tokens: int = DEFAULT_CHUNK_TOKENS
) -> tuple[int, ...]:
    """Tokens of each request that earlier ones have left in the store, when it forgets nothing.

    Args:
        requests: Token ids in the order of sending, each stored before the next is sent.
        chunk_tokens: Size of a chunk.
    """
    stored: set[bytes] = set()
    hits = []
    for ids in requests:
        chains = [chain for _, chain in _chunks(ids, chunk_tokens)]
        count = 0
        while count < len(chains) and chains[count] in stored:
            count += 1
        hits.append(count * chunk_tokens)
        stored.update(chains)
    return tuple(hits)


def different_chunks(requests: Sequence[Sequence[int]], chunk_tokens: int = DEFAULT_CHUNK_TOKENS) -> int:
    """How many full chunks the store keeps of all requests together, each once."""
    return len({chain for ids in requests for _, chain in _chunks(ids, chunk_tokens)})


def _chunks(token_ids: Sequence[int], chunk_tokens: int) -> Iterator[tuple[bytes, bytes]]:
    """Digest of each full chunk alone, and together with all before it."""
    chain = hashlib.sha256()
    for start in range(0, len(token_ids) - chunk_tokens + 1, chunk_tokens):
        packed = ids_bytes(token_ids[start : start + chunk_tokens])
        chain.update(packed)
        yield hashlib.sha256(packed).digest(), chain.digest()
