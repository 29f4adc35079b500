"""The Live screen as it is painted, at three sizes, without colour, at the end, and with nothing to show."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from textual.pilot import Pilot

from tests.screens.live_app import Stage


def painted(snap_compare, stage: Stage, size: tuple[int, int], keys: Sequence[str] = ()) -> bool:  # type: ignore[no-untyped-def]
    """Whether the screen is painted as before."""

    async def ready(pilot: Pilot[None]) -> None:
        await stage.tick(pilot)
        for key in keys:
            await pilot.press(key)
        await pilot.pause()

    return bool(snap_compare(stage.app, terminal_size=size, run_before=ready))


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_in_a_cached_pass(snap_compare, size: tuple[int, int]) -> None:  # type: ignore[no-untyped-def]
    assert painted(snap_compare, Stage(), size)


def test_without_colour(snap_compare, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("NO_COLOR", "1")
    assert painted(snap_compare, Stage(), (120, 36))


def test_all_tiers(snap_compare) -> None:  # type: ignore[no-untyped-def]
    assert painted(snap_compare, Stage(), (120, 36), ("t", "t"))


def test_a_request(snap_compare) -> None:  # type: ignore[no-untyped-def]
    assert painted(snap_compare, Stage(), (80, 24), ("d", "home", "enter"))


def test_no_run(snap_compare) -> None:  # type: ignore[no-untyped-def]
    assert painted(snap_compare, Stage(empty=True), (80, 24))
