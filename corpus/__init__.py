"""The documents of a run: made from a seed, or a person's own; cut to exact token counts.

Everything here is pure but :mod:`corpus.own`, which reads the files that it is given.
"""

from corpus.chunks import (
    DEFAULT_CHUNK_TOKENS,
    SharedChunk,
    expected_hit_tokens,
    full_chunks,
    shared_chunks,
)
from corpus.document import Document
from corpus.errors import CorpusError
from corpus.generate import characters_for, document, documents, generate
from corpus.manifest import ManifestRow, Totals, manifest, to_csv, to_json, totals
from corpus.tokens import TokenDocument, cut, ids_sha256

__all__ = [
    "DEFAULT_CHUNK_TOKENS",
    "CorpusError",
    "Document",
    "ManifestRow",
    "SharedChunk",
    "TokenDocument",
    "Totals",
    "characters_for",
    "cut",
    "document",
    "documents",
    "expected_hit_tokens",
    "full_chunks",
    "generate",
    "ids_sha256",
    "manifest",
    "shared_chunks",
    "to_csv",
    "to_json",
    "totals",
]
