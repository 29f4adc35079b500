"""A chart's colours become styles, run by run; its text stays as it is."""

from __future__ import annotations

from rich.text import Text
from textual.color import Color

from screens.widgets.live.ansi import from_ansi

BLUE, AMBER = "\x1b[38;2;108;182;255m", "\x1b[38;2;255;180;84m"


def test_each_run_has_its_colour_and_blanks_have_none() -> None:
    found = from_ansi(f"\x1b[0m{BLUE}12┤\x1b[0m  {AMBER}██\x1b[0m\n{BLUE}  \x1b[0mx")
    assert found.plain == "12┤  ██\n  x"
    runs = [(found.plain[span.start : span.end], span.style) for span in found.spans]
    assert [text for text, _ in runs] == ["12┤", "██"]
    colours = [style.foreground for _, style in runs if not isinstance(style, str)]
    assert colours == [Color(108, 182, 255), Color(255, 180, 84)]


def test_a_cell_may_have_a_colour_behind_it() -> None:
    (span,) = from_ansi("\x1b[38;2;1;2;3;48;2;4;5;6m▄\x1b[0m").spans
    assert not isinstance(span.style, str)
    assert (span.style.foreground, span.style.background) == (Color(1, 2, 3), Color(4, 5, 6))


def test_text_is_as_the_terminal_would_show_it() -> None:
    chart = f"a{BLUE}b\x1b[0mc\n\x1b[mend"
    assert from_ansi(chart).plain == Text.from_ansi(chart).plain
    assert from_ansi("").plain == ""
