"""Simple tokenizers that give the same ids everywhere, each with other borders."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable

Tokenizer = Callable[[str], list[int]]


def bytes_of(text: str) -> list[int]:
    """A token a byte: the shortest tokens that any tokenizer makes."""
    return list(text.encode())


def words_of(text: str) -> list[int]:
    """A token a word or sign: longer than those of most tokenizers."""
    return [zlib.crc32(piece.encode()) for piece in re.findall(r"\w+|[^\w\s]", text)]


def triples_of(text: str) -> list[int]:
    """A token for three bytes, wherever they fall."""
    data = text.encode()
    return [int.from_bytes(data[at : at + 3], "big") for at in range(0, len(data), 3)]


TOKENIZERS: dict[str, Tokenizer] = {"bytes": bytes_of, "words": words_of, "triples": triples_of}
