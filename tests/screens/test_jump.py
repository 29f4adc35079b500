"""Letters over the panels of a screen."""

from __future__ import annotations

import pytest

from screens.modals.jump import Jump, Letter
from screens.widgets.plan.form import PlanForm
from screens.widgets.text_panel import TextPanel
from tests.screens.plan_port import FakePlans
from tests.screens.plan_stage import app_with, drawn, front, on_seed, settled


@pytest.mark.parametrize("by", ["key", "mouse"])
async def test_a_letter_goes_to_its_panel(by: str) -> None:
    port = FakePlans()
    app = app_with(port, on_seed(port))
    async with app.run_test(size=(200, 50)) as pilot:
        screen = await settled(pilot)
        await pilot.press("ctrl+o")
        await drawn(pilot)
        assert isinstance(front(app), Jump)
        letters = list(front(app).query(Letter))
        assert [letter.letter for letter in letters] == ["a", "s", "d", "f", "g"]
        forecast = screen.query_one("#forecast-panel", TextPanel)
        at = next(one for one in letters if one.region.offset == forecast.region.offset)
        if by == "key":
            await pilot.press(at.letter)
        else:
            assert await pilot.click(at)
        await drawn(pilot)
        assert front(app) is screen
        assert screen.focused is forecast


async def test_another_key_leaves_and_the_field_keeps_the_cursor() -> None:
    port = FakePlans()
    app = app_with(port, on_seed(port))
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await settled(pilot)
        await pilot.press("i", "ctrl+o")
        await drawn(pilot)
        assert isinstance(front(app), Jump)
        await pilot.press("escape")
        await drawn(pilot)
        assert front(app) is screen
        assert screen.query_one(PlanForm).active
