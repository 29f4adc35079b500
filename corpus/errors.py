"""What can go wrong with a document, in words for the person at the terminal."""

from __future__ import annotations


class CorpusError(Exception):
    """A document, or a file of documents, cannot be used as asked.

    Attributes:
        message: One sentence: what is wrong, and where.
        hint: What to do about it, or an empty string.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()
