"""Charts: what they look like in small, and that nothing breaks them."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import plotext
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kvtui.charts import histogram
from kvtui.live.histogram import bins, far_apart
from kvtui.live.times import HistogramData
from kvtui.palette import PLAIN, Palette

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def data(
    cold: list[float], cached: list[float], *, floor_ms: float | None = None, log: bool = False
) -> HistogramData:
    middle = [sorted(values)[len(values) // 2] if values else None for values in (cold, cached)]
    return HistogramData(
        tier="valkey",
        topology="single",
        cold_ms=tuple(sorted(cold)),
        cached_ms=tuple(sorted(cached)),
        cold_median_ms=middle[0],
        cached_median_ms=middle[1],
        cold_p95_ms=None,
        cached_p95_ms=None,
        speedup=None,
        speedup_low=None,
        speedup_high=None,
        speedup_level=None,
        floor_ms=floor_ms,
        floor_words="",
        log=log,
    )


def test_cold_and_cached_share_their_bins_and_differ_by_glyph() -> None:
    drawn = histogram(data([400.0] * 3 + [420.0], [100.0, 110.0], floor_ms=60.0), 40, 8, PLAIN)
    assert drawn.splitlines() == [
        " │┊    ▾                             ▾",
        "3┤┊                                 ██",
        " │┊                                 ██",
        " │┊   ▒▒                            ██",
        " │┊   ▒▒                            ████",
        " │┊   ▒▒                            ████",
        " └──────────────┬────────────────────┬──",
        "               200                400 ms",
    ]


@pytest.mark.parametrize(
    ("cold", "cached", "higher", "lower"), [(4, 1, "█", "▒"), (1, 4, "▒", "█")], ids=["cold", "cached"]
)
def test_a_bin_that_both_have_shows_both(cold: int, cached: int, higher: str, lower: str) -> None:
    rows = histogram(data([100.0] * cold, [100.0] * cached), 12, 7, PLAIN).splitlines()
    assert lower in rows[4]
    assert higher in rows[1]


def test_the_coloured_chart_has_the_size_it_was_asked_for_in_every_terminal() -> None:
    drawn = histogram(data([400.0] * 30, [100.0] * 30), 130, 40, Palette())
    lines = ESCAPES.sub("", drawn).splitlines()
    assert "\x1b[38;2;" in drawn
    assert {len(line) for line in lines} <= {129, 130}
    assert len(lines) == 40


def test_colour_does_not_move_what_is_drawn() -> None:
    shown = data([400.0] * 3 + [420.0], [100.0, 110.0], floor_ms=60.0)
    plain = histogram(shown, 40, 8, PLAIN).splitlines()
    coloured = ESCAPES.sub("", histogram(shown, 40, 8, Palette())).splitlines()
    # The labels of the axis are plotext's; the row above it holds the bars' feet.
    assert coloured[5].rstrip() == plain[5].replace("▒", "█")
    assert coloured[6].rstrip() == plain[6]


def test_when_plotext_fails_the_chart_is_drawn_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ValueError("inf")

    monkeypatch.setattr(plotext.figure, "signal", broken)
    drawn = histogram(data([400.0] * 3, [100.0]), 40, 8, Palette())
    assert "█" in drawn
    assert "\x1b" not in drawn


@pytest.mark.parametrize(("width", "height"), [(0, 0), (1, 1), (8, 3), (10, 4), (-5, 9)])
def test_without_room_nothing_is_drawn(width: int, height: int) -> None:
    assert histogram(data([400.0], [100.0]), width, height, PLAIN) == ""


def test_without_samples_nothing_is_drawn() -> None:
    assert histogram(data([], []), 60, 12, PLAIN) == ""


times = st.lists(st.floats(1e-3, 1e9, allow_nan=False), max_size=60)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(times, times, st.booleans(), st.integers(1, 90))
def test_no_sample_is_lost_between_the_bins(
    cold: list[float], cached: list[float], log: bool, count: int
) -> None:
    shown = data(cold, cached, log=log)
    found = bins(shown, count)
    assert (sum(found.cold), sum(found.cached)) == (len(cold), len(cached))
    assert list(found.edges_ms) == sorted(found.edges_ms)
    histogram(shown, count, 10, PLAIN)


def test_the_axis_is_logarithmic_when_the_medians_are_eight_times_apart() -> None:
    assert far_apart(400.0, 50.0)
    assert far_apart(50.0, 400.0)
    assert not far_apart(399.0, 50.0)
    assert not far_apart(None, 50.0)


def test_bins_of_a_logarithmic_axis_grow_by_one_factor() -> None:
    edges = bins(data([900.0], [10.0], log=True), 12).edges_ms
    factors = [after / before for before, after in pairwise(edges)]
    assert max(factors) == pytest.approx(min(factors))


def test_samples_that_are_all_alike_have_one_bin_of_some_width() -> None:
    found = bins(data([5.0, 5.0], []), 10)
    assert max(found.cold) == 2
    assert found.edges_ms[-1] > found.edges_ms[0]
