"""Where in a text the tokens end, from what a tokenizer calls them."""

from __future__ import annotations

from collections.abc import Sequence

_BLANK = "▁"


def _byte_letters() -> dict[str, int]:
    """The letter by which tokenizers of GPT-2's kind write each byte: itself where it can be seen."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in seen]
    return {chr(byte): byte for byte in seen} | {chr(256 + place): byte for place, byte in enumerate(hidden)}


_BYTES = _byte_letters()


def token_ends(text: str, pieces: Sequence[str]) -> tuple[int, ...] | None:
    """The character of the text after which each token ends.

    A token that ends inside a character ends before it.

    Args:
        text: What was tokenized.
        pieces: The tokenizer's own names of the tokens (``return_token_strs`` of vLLM 0.28's ``/tokenize``).

    Returns:
        ``None`` when the pieces do not spell the text in a way that is known here, so that nobody can tell.
    """
    spelled = _by_bytes(text, pieces)
    return _by_blanks(text, pieces) if spelled is None else spelled


def _by_bytes(text: str, pieces: Sequence[str]) -> tuple[int, ...] | None:
    try:
        data = bytes(_BYTES[letter] for piece in pieces for letter in piece)
    except KeyError:
        return None
    if data != text.encode():
        return None
    # A byte that begins a character of several bytes counts when its last byte is there.
    ends, characters, at = [], 0, 0
    for piece in pieces:
        at += len(piece)
        whole = data[at : at + 1] == b"" or data[at] & 0xC0 != 0x80
        characters += sum(1 for byte in data[at - len(piece) : at] if byte & 0xC0 != 0x80)
        ends.append(characters if whole else characters - 1)
    return tuple(ends)


def _by_blanks(text: str, pieces: Sequence[str]) -> tuple[int, ...] | None:
    """Pieces of SentencePiece's kind; it may put a blank before the text."""
    spelled = [piece.replace(_BLANK, " ") for piece in pieces]
    whole = "".join(spelled)
    if whole not in (text, f" {text}"):
        return None
    ends, at = [], len(text) - len(whole)
    for piece in spelled:
        at += len(piece)
        ends.append(max(at, 0))
    return tuple(ends)


def chunk_ends(
    ends: Sequence[int], tokens: int, chunk_tokens: int, prefix_tokens: int = 0
) -> tuple[int, ...]:
    """The character of a document after which each whole chunk of its request ends.

    Args:
        ends: Where each token of the document ends.
        tokens: Length of the document in the request.
        chunk_tokens: Size of a chunk.
        prefix_tokens: Tokens before the document; chunks that end within them end at no character of it.
    """
    last = (prefix_tokens + tokens) // chunk_tokens
    first = prefix_tokens // chunk_tokens + 1
    return tuple(ends[number * chunk_tokens - prefix_tokens - 1] for number in range(first, last + 1))
