"""The document: text with a name, before any tokenizer has seen it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Document:
    """A text to be sent to a model.

    Attributes:
        document_id: Unique in its corpus, and safe as a file name.
        domain: ``legal``, ``medical``, or ``own`` for a person's own text.
        kind: What sort of text it is, such as ``lease``; for own text its format.
        title: One line that names it to a reader.
        text: The whole of it.
    """

    document_id: str
    domain: str
    kind: str
    title: str
    text: str

    @property
    def sha256(self) -> str:
        """Digest of the text's UTF-8 bytes, in hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def words(self) -> int:
        """Number of words, parted by white space."""
        return len(self.text.split())
