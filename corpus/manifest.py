"""What a corpus holds, a row a document, with totals."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

from corpus.chunks import DEFAULT_CHUNK_TOKENS, full_chunks
from corpus.document import Document
from corpus.tokens import TokenDocument

VERSION = 1


@dataclass(frozen=True, slots=True)
class ManifestRow:
    """A document in figures. What only a tokenizer, or only a model, can tell is None until it is known.

    Attributes:
        tokens: Ids that are sent.
        chunks: Full chunks among them.
        kv_bytes: What the store keeps for the document: full chunks times the model's bytes a token.
        sha256: Digest of the text.
        ids_sha256: Digest of the ids.
    """

    document_id: str
    domain: str
    kind: str
    title: str
    characters: int
    words: int
    tokens: int | None
    chunks: int | None
    kv_bytes: int | None
    sha256: str
    ids_sha256: str | None


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over a manifest; a sum is None as soon as one of its parts is not known.

    Attributes:
        kv_bytes: The working set.
    """

    documents: int
    characters: int
    words: int
    tokens: int | None
    chunks: int | None
    kv_bytes: int | None


def manifest(
    documents: Sequence[Document],
    token_documents: Sequence[TokenDocument] = (),
    *,
    chunk_tokens: int = DEFAULT_CHUNK_TOKENS,
    kv_bytes_per_token: int | None = None,
) -> tuple[ManifestRow, ...]:
    """A row for each document, with what its token ids tell where they are given."""
    by_id = {item.document_id: item for item in token_documents}
    return tuple(
        _row(document, by_id.get(document.document_id), chunk_tokens, kv_bytes_per_token)
        for document in documents
    )


def _row(
    document: Document, ids: TokenDocument | None, chunk_tokens: int, kv_bytes_per_token: int | None
) -> ManifestRow:
    tokens = None if ids is None else len(ids.token_ids)
    chunks = None if tokens is None else full_chunks(tokens, chunk_tokens)
    stored = (
        None if chunks is None or kv_bytes_per_token is None else chunks * chunk_tokens * kv_bytes_per_token
    )
    return ManifestRow(
        document_id=document.document_id,
        domain=document.domain,
        kind=document.kind,
        title=document.title,
        characters=len(document.text),
        words=document.words,
        tokens=tokens,
        chunks=chunks,
        kv_bytes=stored,
        sha256=document.sha256,
        ids_sha256=None if ids is None else ids.sha256,
    )


def totals(rows: Sequence[ManifestRow]) -> Totals:
    """The sums of a manifest."""
    return Totals(
        documents=len(rows),
        characters=sum(row.characters for row in rows),
        words=sum(row.words for row in rows),
        tokens=_sum([row.tokens for row in rows]),
        chunks=_sum([row.chunks for row in rows]),
        kv_bytes=_sum([row.kv_bytes for row in rows]),
    )


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if values and len(known) == len(values) else None


def to_csv(rows: Sequence[ManifestRow]) -> str:
    """The manifest as CSV with a header; an unknown value is an empty field."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [field.name for field in fields(ManifestRow)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return out.getvalue()


def to_json(rows: Sequence[ManifestRow]) -> str:
    """The manifest as JSON with its version and the totals; an unknown value is null."""
    data = {"version": VERSION, "totals": asdict(totals(rows)), "documents": [asdict(row) for row in rows]}
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
