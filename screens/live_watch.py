"""Follows the run that Live shows and the one under way, whatever mode is in front."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import islice

from kvtui.errors import KvtuiError
from kvtui.feed import FeedBatch, LogPiece
from kvtui.live.state import LiveState
from kvtui.live.told import LogRow, RequestDetail
from kvtui.live.view import LiveView
from screens.ports.live import LiveFeed, LiveRuns
from screens.session import Session, Status

TICK_S = 0.5
# A run of an hour is shown again in three minutes.
REPLAY_SPEED = 20.0
# What is taken in at once; between pieces the screen may draw and keys are read.
SLICE = 250

Listener = Callable[[], Awaitable[None]]


class Followed:
    """One run as far as it has been read."""

    def __init__(self, feed: LiveFeed) -> None:
        self.run = feed.run
        self.state = LiveState(feed.plan)
        self.trouble = ""
        self.follower_alive = True
        self.now_wall_s = 0.0
        self.begun = False
        self._now = ""
        self._feed = feed
        self._views: dict[tuple[str | None, str | None], LiveView] = {}

    async def catch_up(self, drawn: Listener) -> None:
        """Take in all that is new; ``drawn`` is called between pieces of a long record."""
        if self.trouble:
            return
        self._views.clear()
        loop = asyncio.get_running_loop()
        told_s = loop.time()
        while True:
            try:
                batch = self._feed.poll()
            except KvtuiError as error:
                self.trouble = str(error)
                return
            await self._take(batch)
            self.begun = True
            self._views.clear()
            if not batch.more:
                return
            if loop.time() - told_s >= TICK_S:
                await drawn()
                told_s = loop.time()

    async def _take(self, batch: FeedBatch) -> None:
        self.follower_alive = batch.follower_alive
        self.now_wall_s = batch.now_wall_s
        self._now = batch.now
        events = iter(batch.events)
        while piece := tuple(islice(events, SLICE)):
            self.state.feed(piece)
            await asyncio.sleep(0)
        for log in batch.logs:
            await self._take_log(log)

    async def _take_log(self, log: LogPiece) -> None:
        for start in range(0, len(log.lines), SLICE):
            lines = log.lines[start : start + SLICE]
            self.state.feed_log(log.node, log.process, log.first_line + start, lines)
            await asyncio.sleep(0)

    def view(self, tier: str | None = None, topology: str | None = None) -> LiveView:
        """What there is to show; the same until more was read."""
        key = tier, topology
        if key not in self._views:
            self._views[key] = self.state.view(self.now_wall_s, tier, topology, self._now)
        return self._views[key]

    def request(self, request_id: str) -> RequestDetail | None:
        """One request whole."""
        return self.state.request(request_id)

    def log_rows(
        self, node: str, process: str, after: int = 0, most: int | None = None
    ) -> tuple[LogRow, ...]:
        """The lines of a log that are in memory, behind a line number."""
        return self.state.log_rows(node, process, after, most)

    def next_warning(self, node: str, process: str, after: int) -> int | None:
        """Number of the next line with a warning behind a line number, or ``None``."""
        return self.state.next_warning(node, process, after)


class LiveWatch:
    """Reads runs twice a second and keeps the session's state in words.

    Args:
        runs: The runs on this machine.
        session: What the screens share.
    """

    def __init__(self, runs: LiveRuns, session: Session) -> None:
        self.runs = runs
        self.shown: Followed | None = None
        self.trouble = ""
        self._session = session
        self._latest: Followed | None = None
        self._wanted: tuple[str, bool, int] | None = None
        self._refused = ""
        self._listeners: list[Listener] = []
        self._ended: set[str] = set()

    def listen(self, listener: Listener) -> None:
        """Call ``listener`` after every reading."""
        self._listeners.append(listener)

    def unlisten(self, listener: Listener) -> None:
        """Call ``listener`` no more."""
        self._listeners.remove(listener)

    async def run(self) -> None:
        """Read for as long as the app runs; a reading that takes long is not followed by two at once."""
        loop = asyncio.get_running_loop()
        while True:
            due_s = loop.time() + TICK_S
            await self.tick()
            await asyncio.sleep(max(TICK_S / 2, due_s - loop.time()))

    async def tick(self) -> None:
        """Read what is new."""
        self._follow_latest()
        self._follow_wanted()
        for followed in dict.fromkeys((self.shown, self._latest)):
            if followed is not None:
                await followed.catch_up(self._tell)
        self._say()
        await self._tell()

    async def _tell(self) -> None:
        for listener in tuple(self._listeners):
            await listener()

    def _open(self, make: Callable[[], LiveFeed]) -> Followed | None:
        try:
            return Followed(make())
        except KvtuiError as error:
            self.trouble = str(error)
            return None

    def _follow_latest(self) -> None:
        run = self.runs.latest()
        if run is None or run == self._refused or (self._latest and self._latest.run == run):
            return
        self._latest = self._open(lambda: self.runs.open(run))
        # A record that cannot be read is told of once, and not tried twice a second.
        self._refused = "" if self._latest else run

    def _follow_wanted(self) -> None:
        session = self._session
        run, again = session.run, session.replay
        if run is None or (self._latest is not None and run == self._latest.run and not again):
            if self._latest is not None:
                self.shown, self._wanted, self.trouble = self._latest, None, ""
            return
        wanted = run, again, session.replays
        if self._wanted == wanted:
            return
        self._wanted, self.trouble = wanted, ""
        runs = self.runs
        self.shown = self._open(lambda: runs.replay(run, REPLAY_SPEED) if again else runs.open(run))

    def _say(self) -> None:
        latest = self._latest
        if latest is None or not latest.begun or latest.trouble:
            self._session.live_run = None
            return
        state = latest.view().head.state
        name = f"run {short(latest.run)}"
        if state == "running":
            alive = latest.follower_alive
            self._session.live_run = latest.run if alive else None
            self._ended.add(latest.run)
            self._session.say(
                Status("●", name, "success") if alive else Status("!", f"{name} cut off", "warning")
            )
            return
        self._session.live_run = None
        if latest.run in self._ended:
            self._ended.discard(latest.run)
            good = state == "done"
            self._session.say(Status("✓" if good else "✗", f"{name} {state}", "success" if good else "error"))


def short(run: str) -> str:
    """The part of a run's id that tells it from others of its day."""
    return run.rpartition("-")[2] or run
