"""Lines of real engines, and the figures in them."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.loglines import (
    Lookup,
    Retrieve,
    Store,
    all_figures,
    clean,
    client_request_id,
    figures,
    parse_line,
    shorten,
)

LOGS = sorted((Path(__file__).parents[1] / "data" / "logs").glob("*.log"))


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_every_figure_of_a_real_log_is_read(log: Path) -> None:
    text = log.read_text(encoding="utf-8", errors="replace")
    found = list(all_figures(text.splitlines()))
    assert sum(isinstance(one, Lookup) for one in found) == text.count("Reqid: ")
    assert sum(isinstance(one, Retrieve) for one in found) == text.count("] Retrieved ")
    assert sum(isinstance(one, Store) for one in found) == text.count("] Stored ")


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_every_level_of_a_real_log_is_read(log: Path) -> None:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    for raw in lines:
        text = clean(raw)
        line = parse_line(raw)
        if " LMCache WARNING: " in text:
            assert (line.source, line.level) == ("lmcache", "WARNING")
        if " LMCache ERROR: " in text:
            assert (line.source, line.level) == ("lmcache", "ERROR")


def test_the_figures_are_the_ones_in_the_line() -> None:
    line = parse_line(
        "(EngineCore pid=9) \x1b[32;20m[2026-11-29 17:18:33,958] LMCache INFO:\x1b[0m "
        "[req_id=cmpl-r.a.1-0-aee2c373] Retrieved 9984 out of 9984 required tokens "
        "(from 9984 total tokens). size: 0.0762 gb, cost 53.6136 ms, throughput: 1.4208 GB/s; "
        "\x1b[3m(cache_engine.py:958:lmcache.v1.cache_engine)\x1b[0m"
    )
    assert figures(line) == Retrieve("cmpl-r.a.1-0-aee2c373", 9984, 9984, 0.0762, 53.6136, "EngineCore")
    assert client_request_id("cmpl-r.a.1-0-aee2c373") == "r.a.1"


def test_a_lookup_below_the_least_to_retrieve_is_read() -> None:
    message = (
        "Reqid: cmpl-x-0-00000000, Total tokens 300, Inference Engine computed tokens: 0, "
        "LMCache hit tokens: 256, but need to load: 256 < min_retrieve 512, "
        "skip retrieve but record for save skip"
    )
    assert figures(parse_line(f"[2026-11-29 17:18:33,958] LMCache INFO: {message}")) == Lookup(
        "cmpl-x-0-00000000", 300, 0, 256, 256
    )


@given(st.text())
def test_any_text_is_a_line_and_comes_out_harmless(text: str) -> None:
    line = parse_line(text)
    assert not any(ord(character) < 32 and character not in "\t\n" for character in line.text)
    figures(line)


@given(st.text(st.characters(exclude_characters="\n", codec="utf-8"), min_size=1))
def test_the_id_comes_back_from_the_engines_own(request_id: str) -> None:
    assert client_request_id(f"cmpl-{request_id}-0-0a1b2c3d") == request_id


UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


@given(st.text())
def test_a_clean_text_has_nothing_that_a_terminal_obeys_or_a_reader_cannot_see(text: str) -> None:
    shown = clean(text)
    assert all(char == "\t" or unicodedata.category(char) not in UNSEEN for char in shown)
    assert clean(shown) == shown


def test_every_invisible_character_of_unicode_is_known() -> None:
    unseen = (char for char in map(chr, range(0x110000)) if unicodedata.category(char) in UNSEEN)
    assert {clean(char) for char in unseen} == {"", "\t", " ", "�"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb\u2066c\u2069\u200e\u200f\u061cd", "abcd"),
        ("a\x9b31mb\x9d0;title\x07c\x85d", "abcd"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("half \ud800 pair", "half � pair"),
        ("two\nlines\u2028three", "two lines three"),
        ("naïve — 東京\t✓", "naïve — 東京\t✓"),
    ],
)
def test_hostile_text_becomes_harmless(text: str, shown: str) -> None:
    assert clean(text) == shown


@given(st.text(), st.integers(min_value=0, max_value=50))
def test_a_short_text_stays_and_a_long_one_is_cut_visibly(text: str, width: int) -> None:
    short = shorten(text, width)
    assert len(short) <= width
    assert short == text if len(text) <= width else short.endswith("…") or width == 0
