"""Live over recorded lab runs, in most of which something goes wrong: what it says, and how it looks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from kvtui.feed import FeedBatch, LogPiece
from screens.live import LiveScreen
from screens.live_watch import LiveWatch
from screens.session import Session
from tests.kvtui.live.runs import RUNS, recorded
from tests.screens.apps import make_app
from tests.screens.live_run import RunFeed

NAMES = ("good", "evicting", "zero-hit-fleet", "store-down", "engine-killed")
SIZES = [(name, size) for name in NAMES for size in ((80, 24), (120, 36))] + [("evicting", (200, 50))]


class RecordedFeed:
    """A recorded run, all of it at once; it is as late as its last event."""

    def __init__(self, directory: Path) -> None:
        self.run = f"261129-120000-{directory.name[:4]}"
        self.plan, self._events = recorded(directory)
        self._logs = tuple(_log(path) for path in sorted(directory.glob("logs/*.log")))
        self._late_s = 0.0

    def poll(self) -> FeedBatch:
        """Everything, once."""
        events, self._events = self._events, ()
        logs, self._logs = self._logs, ()
        self._late_s = max((event["wall_s"] for event in events if "wall_s" in event), default=self._late_s)
        return FeedBatch(events, logs, "", self._late_s, True)


def _log(path: Path) -> LogPiece:
    node, _, process = path.name.removesuffix(".log").partition(".")
    return LogPiece(node, process, 1, tuple(path.read_text(encoding="utf-8").splitlines()))


class OneRun:
    """The one run on this machine."""

    def __init__(self, feed: RecordedFeed) -> None:
        self.feed = feed

    def latest(self) -> str:
        """Its id."""
        return self.feed.run

    def open(self, run: str) -> Any:
        """Its feed."""
        return self.feed

    def replay(self, run: str, speed: float) -> RunFeed:
        """Nobody asks for it here."""
        raise AssertionError

    def what_stops(self, run: str) -> tuple[str, ...]:
        """Nothing."""
        return ()

    async def stop(self, run: str) -> None:
        """Nobody asks for it here."""
        raise AssertionError


def app_over(name: str) -> tuple[Any, LiveWatch]:
    """The app on Live over a recorded run, and what reads it."""
    session = Session()
    watch = LiveWatch(OneRun(RecordedFeed(RUNS / name)), session)
    return make_app({"live": lambda session: LiveScreen(session, watch)}, session), watch


def painted(app: Any) -> str:
    """The screen as one line."""
    rows = (strip.text for strip in app.screen._compositor.render_strips())
    return " ".join(" ".join(rows).replace("│", " ").split())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("good", ("✓ done", "8/8")),
        ("evicting", ("✓ done", "0/4")),
        ("zero-hit-fleet", ("✓ done", "0/4", "PYTHONHASHSEED")),
        ("store-down", ("✗ failed",)),
        ("engine-killed", ("✓ done",)),
    ],
)
async def test_what_went_wrong_is_on_the_screen(name: str, words: tuple[str, ...]) -> None:
    app, watch = app_over(name)
    async with app.run_test(size=(200, 50)) as pilot:
        await watch.tick()
        await pilot.pause()
        shown = painted(app)
        for word in words:
            assert word in shown


@pytest.mark.parametrize(("name", "size"), SIZES, ids=[f"{name}-{size[0]}x{size[1]}" for name, size in SIZES])
def test_looks(snap_compare: Any, name: str, size: tuple[int, int]) -> None:
    app, watch = app_over(name)

    async def ready(pilot: Pilot[None]) -> None:
        await watch.tick()
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=ready)
