"""A document as token ids: exactly so many of them, which is what an engine is sent."""

from __future__ import annotations

import hashlib
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from corpus.document import Document
from corpus.errors import CorpusError


@dataclass(frozen=True, slots=True)
class TokenDocument:
    """The first N token ids of a document.

    Attributes:
        document_id: The document they come from.
        token_ids: What is sent and recorded.
        cut_characters: How many characters of the document's text these ids stand for, or None where that is
            not known: nobody decoded them, or they do not decode to the beginning of the text (a cut inside
            a character of several tokens, a tokenizer that changes the text).
        sha256: Digest of the ids, each as four bytes, little end first.
    """

    document_id: str
    token_ids: tuple[int, ...]
    cut_characters: int | None
    sha256: str


def cut(
    document: Document, token_ids: Sequence[int], tokens: int, decoded: str | None = None
) -> TokenDocument:
    """Keep exactly ``tokens`` ids.

    Args:
        document: Where the ids come from.
        token_ids: The ids of the document's text, at least ``tokens`` of them, by the served model's
            tokenizer.
        tokens: How many to keep.
        decoded: The text that the tokenizer makes of the ids kept, if somebody asked it.

    Raises:
        CorpusError: The document has fewer ids than that. Nothing is ever padded.
    """
    if tokens < 1:
        raise CorpusError(
            f"{document.document_id} cannot be cut to {tokens} tokens.", "Ask for at least one."
        )
    if len(token_ids) < tokens:
        raise CorpusError(
            f"{document.document_id} has {len(token_ids):,} tokens, but {tokens:,} are needed.",
            "Ask for fewer tokens, or take a longer document.",
        )
    kept = tuple(token_ids[:tokens])
    characters = len(decoded) if decoded is not None and document.text.startswith(decoded) else None
    return TokenDocument(document.document_id, kept, characters, ids_sha256(kept))


def ids_bytes(token_ids: Sequence[int]) -> bytes:
    """Ids as four bytes each, little end first, on any machine."""
    packed = array("I", token_ids)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def ids_sha256(token_ids: Sequence[int]) -> str:
    """Digest of token ids, in hex."""
    return hashlib.sha256(ids_bytes(token_ids)).hexdigest()
