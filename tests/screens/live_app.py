"""The app with the Live screen over a made-up run, driven by the test's own clock."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

from textual.pilot import Pilot
from textual.widgets import Static

from kvtui.app import KvtuiApp
from kvtui.samples import Pass
from screens.live import LiveScreen
from screens.live_watch import LiveWatch
from screens.session import Session
from tests.screens.apps import Around, make_app
from tests.screens.live_run import FakeRuns, MadeRun, RunFeed, moment


@cache
def made() -> MadeRun:
    """The run; it is never changed."""
    return MadeRun()


@cache
def mid_pass(answered: int = 22) -> float:
    """The moment in the cached pass of valkey at which so many requests were judged."""
    return moment(made(), "valkey", "single", Pass.CACHED, answered)


class Stage:
    """The app and what is around it.

    Attributes:
        feed: The run's feed.
        runs: The runs.
        session: What the screens share.
        watch: Reads the run.
        around: What the app did outside of itself.
        app: The app.
    """

    def __init__(self, moment_s: float | None = None, *, readonly: bool = False, empty: bool = False) -> None:
        self.feed = RunFeed(made(), mid_pass() if moment_s is None else moment_s)
        self.runs = FakeRuns(None if empty else self.feed)
        self.session = Session()
        self.watch = LiveWatch(self.runs, self.session)
        self.around = Around()
        modes = {"live": lambda session: LiveScreen(session, self.watch)}
        self.app: KvtuiApp = make_app(modes, self.session, around=self.around, readonly=readonly)

    @asynccontextmanager
    async def show(self, size: tuple[int, int] = (120, 36)) -> AsyncIterator[Pilot[None]]:
        """The app with what is known at the moment."""
        async with self.app.run_test(size=size) as pilot:
            await self.tick(pilot)
            yield pilot

    async def tick(self, pilot: Pilot[None], later_s: float = 0.0) -> None:
        """Let time pass, and read."""
        self.feed.moment_s += later_s
        await self.watch.tick()
        await pilot.pause()

    def rows(self) -> list[str]:
        """The screen's lines as they are painted."""
        return [strip.text for strip in self.app.screen._compositor.render_strips()]

    def text(self) -> str:
        """The screen as it is painted."""
        return "\n".join(self.rows())

    def status(self) -> str:
        """The state at the top right."""
        return str(self.app.screen.query_one("#status", Static).render())
