"""Small bars: pieces of text with the name of what they mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.bars import BAD, COLD, GOOD, REST, WARNING, Line, Segment, document_rows, gauge, tier_bar
from kvtui.live.view import Point, Sign, TierParts


def text(line: Line) -> str:
    return "".join(piece.text for piece in line)


def point(
    place: int, cold_ms: float | None, cached_ms: float | None, verdict: str, sign: Sign, early: bool = False
) -> Point:
    speedup = cold_ms / cached_ms if cold_ms and cached_ms else None
    return Point(place, f"d{place}", "c", "h", cold_ms, cached_ms, speedup, verdict, sign, early)


def test_a_gauge_is_filled_as_far_as_its_share() -> None:
    assert gauge(0.5, 8, COLD) == (Segment("━━━━", COLD), Segment("────", REST))
    assert gauge(1.7, 4, COLD) == (Segment("━━━━", COLD),)


def test_an_unknown_share_is_an_empty_gauge() -> None:
    assert gauge(None, 4, COLD) == (Segment("────", REST),)


@given(st.none() | st.floats(), st.integers(-3, 60))
def test_a_gauge_is_as_wide_as_it_was_asked_to_be(share: float | None, width: int) -> None:
    if share == share:
        assert len(text(gauge(share, width, COLD))) == max(0, width)


def test_the_parts_of_a_ttft_differ_by_glyph_and_by_meaning() -> None:
    parts = TierParts("valkey", "single", True, 8, 300.0, 50.0, 150.0, 100.0, None, None, None)
    bar = tier_bar(parts, 400.0, 40)
    assert text(bar) == "█" * 5 + "▒" * 15 + "░" * 10
    assert [piece.style for piece in bar] == ["lookup", "cached", "rest"]


def test_documents_are_rows_of_equal_columns() -> None:
    points = [
        point(1, 400.0, 50.0, "full", Sign.GOOD, early=True),
        point(2, 400.0, 500.0, "none", Sign.WARNING),
        point(3, 400.0, None, "failed", Sign.BAD),
        point(4, 400.0, None, "", Sign.WAITING),
    ]
    rows = document_rows(points, 4, 8)
    assert rows.wide == 2
    assert text(rows.cached) == "▁▁██····"
    assert text(rows.signs) == "  ! ✗   "
    assert [piece.style for piece in rows.signs if piece.text.strip()] == [WARNING, BAD]
    assert [piece.style for piece in rows.speedup] == [GOOD, WARNING, REST]


def test_the_last_documents_are_shown_when_not_all_have_room() -> None:
    points = [point(place, 400.0, 50.0, "full", Sign.GOOD) for place in range(1, 31)]
    rows = document_rows(points, 30, 10)
    assert (rows.first, rows.wide, len(text(rows.cold))) == (20, 1, 10)


@pytest.mark.parametrize("width", [-1, 0, 1])
def test_without_room_rows_are_short_and_nothing_breaks(width: int) -> None:
    points = [point(1, 400.0, 50.0, "full", Sign.GOOD)]
    assert len(text(document_rows(points, 1, width).cold)) == max(0, width)
