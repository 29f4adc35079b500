"""What the Live screen costs: a core's share at two drawings a second, and a flood of log lines.

Waits are told twice: by the wall, and in processor time of the thread that draws, which other work on the
machine does not lengthen.

    python -m bench.live_screen
"""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from textual import events
from textual.content import Content
from textual.widget import Widget

from kvtui.feed import FeedBatch, LogPiece
from kvtui.samples import Pass
from screens.live import LiveScreen
from screens.live_watch import LiveWatch
from screens.session import Session
from tests.screens.apps import make_app
from tests.screens.live_run import FakeRuns, MadeRun, RunFeed, moment

SIZE = (120, 40)
LINES = 50_000
# As much as the reader of a real run takes of a log at once.
_PIECE_LINES = 400
_PIECES_A_POLL = 16
_NODE, _PROCESS = "gpu-a", "flood-single.1.engine"
_SECONDS = 20.0
# By then the screen is drawn, and what is done once is done.
_SETTLED_S = 2.0
_PAUSE_S = 0.002


class Ticking(RunFeed):
    """A run whose time is the wall's."""

    def __init__(self, made: MadeRun, moment_s: float) -> None:
        super().__init__(made, moment_s)
        self._start, self._zero = moment_s, time.monotonic()

    def poll(self) -> FeedBatch:
        """All that happened up to now."""
        self.moment_s = self._start + time.monotonic() - self._zero
        return super().poll()


class Flood(Ticking):
    """The same, with lines that come within a second once ``open`` is set.

    Attributes:
        open: The flood has begun.
        given: Lines given so far.
    """

    def __init__(self, made: MadeRun, moment_s: float) -> None:
        super().__init__(made, moment_s)
        self.open = False
        self.given = 0
        self._lines = flood_lines()

    def poll(self) -> FeedBatch:
        """A bounded piece of the flood, as of a file that is read."""
        batch = super().poll()
        if not self.open or self.given >= LINES:
            return batch
        pieces = []
        for _ in range(_PIECES_A_POLL):
            lines = tuple(self._lines[self.given : self.given + _PIECE_LINES])
            if lines:
                pieces.append(LogPiece(_NODE, _PROCESS, self.given + 1, lines))
                self.given += len(lines)
        more = self.given < LINES
        logs = (*batch.logs, *pieces)
        return FeedBatch(batch.events, logs, batch.now, batch.now_wall_s, batch.follower_alive, more)


def flood_lines() -> list[str]:
    """Lines as an engine writes them, one in a hundred a warning."""

    def lines() -> Iterator[str]:
        for number in range(LINES):
            second, milli = divmod(number // 50, 1000)
            stamp = f"[2026-11-29 18:12:{second:02d},{milli:03d}]"
            if number % 100 == 99:
                yield f"(EngineCore pid=7) {stamp} LMCache WARNING: Pin count is negative: -{number}"
            elif number % 10 == 5:
                text = f"Reqid: cmpl-{number:016x}-0-a45d5fe3, Total tokens 2048"
                text += ", Inference Engine computed tokens: 0, LMCache hit tokens: 0, need to load: 0"
                yield f"(EngineCore pid=7) {stamp} LMCache INFO: {text}"
            else:
                text = f"Storing KV cache for {number} out of {number} tokens, backend LocalDiskBackend"
                yield f"(EngineCore pid=7) {stamp} LMCache DEBUG: {text} {'k' * 40}"

    return list(lines())


@dataclass(frozen=True)
class Span:
    """A time in milliseconds, by the wall and by this thread's processor."""

    wall_ms: float
    cpu_ms: float


class Moment:
    """Now."""

    def __init__(self) -> None:
        self._wall_s, self._cpu_s = time.perf_counter(), time.thread_time()

    def until_now(self) -> Span:
        """What went by since."""
        return Span((time.perf_counter() - self._wall_s) * 1000, (time.thread_time() - self._cpu_s) * 1000)


class Probe(Widget, can_focus=True):
    """Notes when a key that was sent is seen on the screen.

    Attributes:
        waits: From sending to painting.
    """

    DEFAULT_CSS = "Probe { dock: top; height: 1; width: 1; }"

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[Span] = []
        self.sent: Moment | None = None
        self._due = False

    def on_key(self, event: events.Key) -> None:
        """Ask to be painted."""
        event.stop()
        self._due = True
        self.refresh()

    def render(self) -> Content:
        """Note the time of painting."""
        if self._due and self.sent is not None:
            self.waits.append(self.sent.until_now())
            self.sent, self._due = None, False
        return Content("·")


async def blocks(found: list[Span]) -> None:
    """Note how much later than asked for the event loop comes back, until cancelled."""
    while True:
        before = Moment()
        await asyncio.sleep(_PAUSE_S)
        span = before.until_now()
        found.append(Span(max(0.0, span.wall_ms - _PAUSE_S * 1000), span.cpu_ms))


def told(spans: list[Span], share: float) -> str:
    """The span that a part of all do not exceed."""
    if not spans:
        return "none"
    at = min(len(spans) - 1, int(len(spans) * share))
    wall, cpu = (sorted(values)[at] for values in ([s.wall_ms for s in spans], [s.cpu_ms for s in spans]))
    return f"{wall:.0f} ms ({cpu:.0f} ms of processor time)"


def resident_mb() -> float:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def at_work(made: MadeRun) -> float:
    """A moment of the run at which requests are answered."""
    return moment(made, "disk", "single", Pass.CACHED, 2)


async def quiet() -> None:
    """The share of a core while a run goes on."""
    made = MadeRun()
    session = Session()
    watch = LiveWatch(FakeRuns(Ticking(made, at_work(made))), session)
    app = make_app({"live": lambda session: LiveScreen(session, watch)}, session)
    async with app.run_test(size=SIZE):
        reading = asyncio.create_task(watch.run())
        await asyncio.sleep(_SETTLED_S)
        cpu, wall = time.process_time(), time.perf_counter()
        await asyncio.sleep(_SECONDS)
        share = (time.process_time() - cpu) / (time.perf_counter() - wall)
        reading.cancel()
    print(f"at {SIZE[0]}×{SIZE[1]}, two drawings a second: {share:.1%} of a core")


async def flood() -> None:
    """Many log lines within a second."""
    made = MadeRun()
    session = Session()
    feed = Flood(made, at_work(made))
    watch = LiveWatch(FakeRuns(feed), session)
    app = make_app({"live": lambda session: LiveScreen(session, watch)}, session)
    async with app.run_test(size=SIZE) as pilot:
        probe = Probe()
        await app.screen.mount(probe)
        probe.focus()
        reading = asyncio.create_task(watch.run())
        await asyncio.sleep(_SETTLED_S)
        await pilot.pause()
        gc.collect()
        before_mb, passes = resident_mb(), list[Span]()
        watching = asyncio.create_task(blocks(passes))
        begun, begun_cpu_s = time.perf_counter(), time.process_time()
        feed.open = True
        taken_s = 0.0
        while time.perf_counter() - begun < 60.0:
            if probe.sent is None:
                probe.sent = Moment()
                app.post_message(events.Key("f9", None))
            await asyncio.sleep(0.01)
            if feed.given >= LINES and taken(watch) >= LINES:
                taken_s = time.perf_counter() - begun
                break
        cpu_s = time.process_time() - begun_cpu_s
        watching.cancel()
        gc.collect()
        grown_mb = resident_mb() - before_mb
        reading.cancel()
    print(f"{LINES:,} lines: {LINES - taken(watch):,} lost, taken in {taken_s:.2f} s, {cpu_s:.2f} s busy")
    print(f"longest block of the loop: {told(passes, 1.0)}; memory +{grown_mb:.0f} MB")
    print(f"input to paint in the flood, 99 of 100 of {len(probe.waits)}: {told(probe.waits, 0.99)}")


def taken(watch: LiveWatch) -> int:
    """Lines of the flood that the state knows of."""
    if watch.shown is None:
        return 0
    heads = watch.shown.view().logs
    return next((head.last for head in heads if head.process == _PROCESS), 0)


def main() -> None:
    """Both figures."""
    gc.freeze()  # as the app does when it is run
    asyncio.run(quiet())
    asyncio.run(flood())


if __name__ == "__main__":
    main()
