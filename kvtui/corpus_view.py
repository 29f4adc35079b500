"""A plan's documents as a screen shows them: a list with totals, and one document to read.

Everywhere ``None`` means unknown; ``why_…`` then says why, in a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CorpusRow:
    """A document in figures.

    Attributes:
        place: Its place in the corpus, from 0.
        document_id: Its id in a run.
        domain: ``legal``, ``medical`` or ``own``.
        kind: What sort of text it is; for own text its format.
        title: One line that names it.
        characters: Length of the whole text, of which a run sends the first tokens.
        words: Words of it.
        tokens: Tokens that are sent, the prefix included.
        chunks: Whole chunks among them.
        kv_bytes: What a tier keeps of it, over all ranks.
        sha256: Digest of the text.
    """

    place: int
    document_id: str
    domain: str
    kind: str
    title: str
    characters: int | None
    words: int | None
    tokens: int
    chunks: int
    kv_bytes: int | None
    sha256: str | None


@dataclass(frozen=True, slots=True)
class CorpusList:
    """The documents of a plan, or of a run of it.

    Attributes:
        rows: The first of them; all but for a very large corpus.
        documents: How many there are.
        tokens: Tokens of all requests of a pass.
        chunks: Different chunks of all: a shared beginning counts once.
        working_set_bytes: What a tier must keep to hold them all; ``None`` without the model's KV size.
        source: Where they come from, in words.
        notes: What a reader must know: files left out, what only a run can tell.
    """

    rows: tuple[CorpusRow, ...]
    documents: int
    tokens: int
    chunks: int
    working_set_bytes: int | None
    source: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentText:
    """One document to read.

    Attributes:
        row: Its figures.
        text: The whole text.
        why_no_text: Why there is none.
        token_ids: What a run sent, the prefix included.
        why_no_ids: Why there are none.
        sent_characters: How much of the text the ids stand for.
        chunk_ends: The character of the text after which each chunk of the request ends; chunks within the
            prefix end at none.
        why_no_borders: Why these two are unknown.
    """

    row: CorpusRow
    text: str | None
    why_no_text: str
    token_ids: tuple[int, ...] | None
    why_no_ids: str
    sent_characters: int | None
    chunk_ends: tuple[int, ...] | None
    why_no_borders: str
