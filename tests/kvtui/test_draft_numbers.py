"""Numbers as typed, and the steps of a capacity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.draft_numbers import fraction, stepped, whole


@given(st.text(max_size=30))
def test_any_text_is_a_number_or_stays_a_text(text: str) -> None:
    assert isinstance(whole(text), int | str)
    assert isinstance(fraction(text), float | str)
    for up in (True, False):
        following = stepped(text, up, None, None)
        assert following is None or float(following) > 0


@pytest.mark.parametrize(
    ("text", "up", "smallest", "limit", "expected"),
    [
        ("8", True, None, None, "9"),
        ("9", True, None, None, "10"),
        ("10", True, None, None, "20"),
        ("10", False, None, None, "9"),
        ("1", False, None, None, "0.9"),
        ("8.5", True, None, None, "9"),
        ("8.5", False, None, None, "8"),
        ("0.0625", True, None, None, "0.07"),
        ("10", True, 15.9961, None, "15.9961"),
        ("15.9961", True, 15.9961, None, "20"),
        ("20", False, 15.9961, None, "15.9961"),
        ("80", True, None, 83.2, "83.2"),
        ("83.2", True, None, 83.2, None),
        ("100", True, None, 83.2, None),
        ("100", False, None, 83.2, "90"),
        ("x", True, None, None, None),
        ("", True, None, None, None),
    ],
)
def test_steps_stop_at_what_matters(
    text: str, up: bool, smallest: float | None, limit: float | None, expected: str | None
) -> None:
    assert stepped(text, up, smallest, limit) == expected


@given(st.floats(0.01, 100_000), st.floats(0.01, 100_000), st.booleans())
def test_a_step_goes_its_way_and_never_beyond_the_limit(value: float, limit: float, up: bool) -> None:
    text = f"{value:.6g}"
    following = stepped(text, up, None, limit)
    if following is not None:
        assert (float(following) > float(text)) == up
        assert not up or float(following) <= limit * (1 + 1e-9)
