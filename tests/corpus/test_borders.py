"""Where tokens and chunks end in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.borders import _BYTES, chunk_ends, token_ends

LETTER = {byte: letter for letter, byte in _BYTES.items()}


def byte_pieces(text: str, size: int) -> list[str]:
    data = text.encode()
    return ["".join(LETTER[byte] for byte in data[at : at + size]) for at in range(0, len(data), size)]


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(1, 5))
def test_pieces_of_bytes_end_where_their_bytes_do(text: str, size: int) -> None:
    ends = token_ends(text, byte_pieces(text, size))
    assert ends is not None
    data = text.encode()
    cuts = [min(at, len(data)) for at in range(size, len(data) + size, size)] if data else []
    assert list(ends) == [len(data[:at].decode(errors="ignore")) for at in cuts]


@pytest.mark.parametrize("first", ["", "▁"])
def test_pieces_with_a_sign_for_a_blank(first: str) -> None:
    pieces = [f"{first}Der", "▁Mie", "ter", "▁—", "▁ä"]
    assert token_ends("Der Mieter — ä", pieces) == (3, 7, 10, 12, 14)


def test_pieces_that_spell_another_text_tell_nothing() -> None:
    assert token_ends("some text", ["other", "Ġtext"]) is None
    assert token_ends("some text", ["<unk>", "▁text"]) is None
    assert token_ends("some text", ["some"]) is None


def test_chunks_end_after_their_last_token() -> None:
    ends = range(1, 11)
    assert chunk_ends(ends, 10, 4) == (4, 8)
    # A prefix of three tokens moves the borders; one of five has a chunk of its own.
    assert chunk_ends(ends, 10, 4, 3) == (1, 5, 9)
    assert chunk_ends(ends, 10, 4, 5) == (3, 7)
    assert chunk_ends(ends, 2, 4) == ()
