"""Own documents against each other and against the length that is asked for.

Before a tokenizer has seen the texts only what is certain is a reason to leave one out; the rest is told once
the ids are there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from corpus.chunks import DEFAULT_CHUNK_TOKENS, shared_chunks
from corpus.document import Document
from corpus.own.report import Problem
from corpus.tokens import TokenDocument


def text_problems(
    documents: Sequence[Document], tokens: int, chunk_tokens: int = DEFAULT_CHUNK_TOKENS
) -> tuple[tuple[Document, ...], tuple[Problem, ...]]:
    """The documents that may be used, and what is wrong with any of them, from their text alone."""
    kept: list[Document] = []
    problems: list[Problem] = []
    seen: dict[str, Document] = {}
    for document in documents:
        size = len(document.text.encode())
        twin = seen.get(document.sha256)
        if twin is not None:
            message = f"It is the same text as {twin.title}: the second would hit the first in the cold pass."
            problems.append(Problem(document.title, "duplicate", message, "left out"))
        elif size < tokens:
            # A token stands for one byte at least, so this holds under every tokenizer.
            message = f"It has {size:,} bytes, too few for {tokens:,} tokens. Nothing is padded."
            problems.append(Problem(document.title, "too-short", message, "left out"))
        else:
            seen[document.sha256] = document
            kept.append(document)
    problems.extend(_common_beginnings(kept, chunk_tokens))
    return tuple(kept), tuple(problems)


def _common_beginnings(documents: Sequence[Document], chunk_tokens: int) -> list[Problem]:
    """Beginnings long enough that they may fill a chunk, between neighbours in the order of the texts."""
    found = []
    ordered = sorted(documents, key=lambda document: document.text)
    for first, second in pairwise(ordered):
        length = common_prefix(first.text, second.text)
        # Common tokenizers need more than three characters a token, so that no shared chunk goes unnoticed.
        if length >= 3 * chunk_tokens:
            message = (
                f"Its first {length:,} characters are those of {first.title}; chunks of {chunk_tokens} "
                "tokens in them would be found in the cold pass. Token ids tell how many."
            )
            found.append(Problem(second.title, "shared-prefix", message, "kept"))
    return found


def common_prefix(first: str, second: str) -> int:
    """How many characters two texts have in common at their beginning."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[:middle] == second[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def exact_problems(
    documents: Sequence[TokenDocument], titles: Mapping[str, str], chunk_tokens: int = DEFAULT_CHUNK_TOKENS
) -> tuple[Problem, ...]:
    """Documents whose token ids begin with chunks that an earlier one has stored."""
    counts: dict[tuple[str, str], int] = {}
    for chunk in shared_chunks(documents, chunk_tokens):
        if chunk.hit:
            pair = (chunk.first_id, chunk.second_id)
            counts[pair] = counts.get(pair, 0) + 1
    return tuple(
        Problem(
            titles.get(second, second),
            "shared-prefix",
            f"Its first {count} chunks of {chunk_tokens} tokens are those of {titles.get(first, first)} "
            "and hit in the cold pass, which is then not cold.",
            "kept",
        )
        for (first, second), count in counts.items()
    )
