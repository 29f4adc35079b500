"""Shared prefixes on purpose: one system prompt before each document makes partial reuse a workload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from corpus.chunks import DEFAULT_CHUNK_TOKENS, full_chunks
from corpus.dice import Dice
from corpus.errors import CorpusError
from corpus.house import author
from corpus.tokens import TokenDocument, ids_sha256


@dataclass(frozen=True, slots=True)
class ExpectedReuse:
    """What a store that forgets nothing should give back of one request, in tokens.

    Attributes:
        cold_hit_tokens: In the cold pass, when the documents before it are stored.
        cached_hit_tokens: In the cached pass.
        prompt_tokens: Length of the request.
    """

    document_id: str
    cold_hit_tokens: int
    cached_hit_tokens: int
    prompt_tokens: int


def system_prompt(seed: int, min_characters: int) -> str:
    """Instructions to an assistant, as long as asked for, the same for the same seed."""
    dice = Dice("kvtui system prompt", seed)
    voice, draft = author(dice, "law", "assistant", "names", "assistant")
    voice = voice.knowing({"office": voice.say("office"), "house": voice.fill("{firm_stem} {house_kind}")})
    draft.paragraph(lambda: voice.say("opening"))
    number = 0
    while draft.size < min_characters:
        number += 1
        draft.paragraph(lambda: f"{voice.say('rule')} {voice.say('rule')}", f"{number}. ")
    return draft.text()


def with_prefix(
    prefix_ids: Sequence[int], prefix_tokens: int, documents: Sequence[TokenDocument]
) -> tuple[TokenDocument, ...]:
    """Each document with the first ``prefix_tokens`` ids of the prefix before it.

    Raises:
        CorpusError: The prefix has fewer ids than that.
    """
    if len(prefix_ids) < prefix_tokens:
        raise CorpusError(
            f"The system prompt has {len(prefix_ids):,} tokens, but {prefix_tokens:,} are needed.",
            "Generate a longer one.",
        )
    head = tuple(prefix_ids[:prefix_tokens])
    return tuple(
        replace(document, token_ids=head + document.token_ids, sha256=ids_sha256(head + document.token_ids))
        for document in documents
    )


def expected_reuse(
    documents: Sequence[tuple[str, int]], prefix_tokens: int, chunk_tokens: int = DEFAULT_CHUNK_TOKENS
) -> tuple[ExpectedReuse, ...]:
    """What each request should find, given that the documents share nothing but the prefix.

    In the cold pass the first request finds nothing and every other one the full chunks of the prefix; in the
    cached pass each finds all its full chunks. A chunk that the prefix fills only in part holds tokens of the
    document and is its own.

    Args:
        documents: Id and length in tokens, without the prefix, in the order of sending.
        prefix_tokens: Length of the prefix; 0 for none.
        chunk_tokens: Size of a chunk.
    """
    shared = full_chunks(prefix_tokens, chunk_tokens) * chunk_tokens
    return tuple(
        ExpectedReuse(
            document_id,
            shared if place else 0,
            full_chunks(prefix_tokens + tokens, chunk_tokens) * chunk_tokens,
            prefix_tokens + tokens,
        )
        for place, (document_id, tokens) in enumerate(documents)
    )
