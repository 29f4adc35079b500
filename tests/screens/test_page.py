"""How a document becomes lines."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from screens.page import BORDER, harmless, ids_as_text, layout

# A rising list of places, drawn below as shares of the text's length.
SHARES = st.lists(st.floats(0, 1), max_size=6).map(sorted)
TEXTS = st.text(st.characters(), max_size=400) | st.text("ab \n\t\x1b日\u0301", max_size=400)


def test_a_line_is_cut_at_a_blank_and_anywhere_where_there_is_none() -> None:
    lines = [line.text for line in layout("the roof and walls\n\nabcdefghijkl", 8)]
    assert lines == ["the roof", "and", "walls", "", "abcdefgh", "ijkl"]


def test_what_a_terminal_would_obey_is_a_sign() -> None:
    shown = harmless("\x1b[2J\x9b31m\x07\x7f \u202eevil\u202c [bold]x[/] tab\there\ue000\ud800")
    assert shown == "␛[2J·31m␇␡ ·evil· [bold]x[/] tab here··"


def test_line_ends_of_any_kind_show_nothing() -> None:
    assert [line.text.rstrip() for line in layout("a\r\nb\nc\r\n", 20)] == ["a", "b", "c"]


def test_borders_stand_behind_their_characters_and_chunks_are_numbered() -> None:
    lines = layout("aaaa bbbb\ncccc dddd eeee", 12, (2, 12, 14), 3, sent=20)
    assert [line.text for line in lines] == ["aa┃aa bbbb", "cc┃cc┃ dddd ", "", "eeee"]
    assert [line.borders for line in lines[:2]] == [(2,), (2, 5)]
    assert [line.chunk for line in lines] == [4, None, None, None]
    assert [line.sent for line in lines] == [True, True, True, False]
    assert [line.rule for line in lines] == [False, False, True, False]


def test_a_text_without_known_borders_has_no_numbers() -> None:
    assert {line.chunk for line in layout("one two three", 5)} == {None}


def test_an_empty_text_is_an_empty_line() -> None:
    assert [line.text for line in layout("", 10)] == [""]


def test_ids_are_parted_by_chunk() -> None:
    text, ends = ids_as_text(range(10), 4)
    assert text == "0 1 2 3\n4 5 6 7\n8 9\n"
    assert ends == (8, 16)
    assert [line.chunk for line in layout(text, 40, ends)] == [1, 2, None]


@given(TEXTS, st.integers(2, 40), SHARES, st.none() | st.floats(0, 1))
def test_every_line_fits_and_nothing_is_lost(
    text: str, width: int, shares: list[float], sent: float | None
) -> None:
    ends = sorted({round(share * len(text)) for share in shares})
    upto = None if sent is None else round(sent * len(text))
    if upto is not None:
        ends = [end for end in ends if end <= upto]
    lines = layout(text, width, ends, 1, upto)
    assert all(cell_len(line.text) <= width for line in lines)
    assert sum(len(line.borders) for line in lines) == len(ends)
    assert all(line.text[place] == BORDER for line in lines for place in line.borders)
    left = "".join(
        character
        for line in lines
        for place, character in enumerate(line.text)
        if place not in line.borders and not character.isspace()
    )
    assert left == "".join(character for character in harmless(text) if not character.isspace())


@given(TEXTS)
def test_nothing_a_terminal_obeys_is_left_and_no_character_moves(text: str) -> None:
    shown = harmless(text)
    assert len(shown) == len(text)
    left = {unicodedata.category(character) for character in shown if character != "\n"}
    assert not left & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
