"""What the Plan screen costs in processor time: its opening, a keystroke, its other panels.

Each figure stands beside that of a screen without a body, opened in the same run, because a busy or a slow
machine lengthens both.

    python -m bench.plan_screen
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from textual.pilot import Pilot
from textual.widgets import Static

from kvtui.app import KvtuiApp
from kvtui.eta import in_words
from screens.base import KvtuiScreen
from screens.plan import PlanScreen
from screens.session import Session
from screens.widgets.plan.panels import PlanPanels
from tests.screens.apps import make_app
from tests.screens.documents_port import FakeDocuments
from tests.screens.plan_port import FakePlans
from tests.screens.plan_stage import field, settled

SIZES = ((80, 24), (120, 36), (200, 50))
_ROUNDS = 5
_PAUSE_S, _IDLE_S, _MOST_PAUSES = 0.1, 0.004, 50
_KEYS = ("backspace", "2", "backspace", "0")


class Empty(KvtuiScreen):
    """A screen with nothing but the line at the top and the keys at the bottom."""

    def compose_body(self) -> list[Static]:
        """Nothing."""
        return [Static()]


class EmptyNodes(Empty):
    """The one in front at first."""

    MODE = "nodes"


class EmptyLaunch(Empty):
    """The one to compare with."""

    MODE = "launch"


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor time of the whole process, in milliseconds."""

    columns: int
    rows: int
    empty_ms: float
    open_ms: float
    again_ms: float
    keystrokes_ms: tuple[float, ...]
    panels_ms: tuple[float, ...]

    def lines(self) -> Sequence[str]:
        """In words."""
        size = f"{self.columns}×{self.rows}"
        rows = (
            ("empty screen opened", (self.empty_ms,)),
            ("Plan opened", (self.open_ms,)),
            ("Plan come back to", (self.again_ms,)),
            ("keystroke to paint", self.keystrokes_ms),
            ("all panels drawn anew", self.panels_ms),
        )
        return [
            f"{size:8}{name:24}{statistics.median(of):7.1f} ms   worst {max(of):7.1f} ms"
            f"   {statistics.median(of) / self.empty_ms:6.2f} × an empty screen"
            for name, of in rows
        ]


async def _cost_ms(what: Callable[[], Awaitable[object]]) -> float:
    before_s = time.process_time()
    await what()
    return (time.process_time() - before_s) * 1000


def _app(port: FakePlans) -> KvtuiApp:
    session = Session(plan=port.plan("seed"), plan_name="seed")
    modes = {
        "nodes": EmptyNodes,
        "plan": lambda session: PlanScreen(session, port, in_words, FakeDocuments()),
        "launch": EmptyLaunch,
    }
    return make_app(modes, session)


async def measured(columns: int, rows: int) -> Cost:
    """Walk through the screen at a size."""
    app = _app(FakePlans())
    async with app.run_test(size=(columns, rows)) as pilot:
        await _until(lambda: app.current_mode == "nodes" and app.screen.is_current)
        await _rest()

        async def press(key: str) -> float:
            async def work() -> None:
                app.simulate_key(key)
                await _rest()

            return await _cost_ms(work)

        async def go(key: str, mode: str) -> float:
            app.simulate_key(key)
            return await _cost_ms(lambda: _arrived(pilot, mode))

        empty_ms = await go("3", "launch")
        open_ms = await go("2", "plan")
        await go("3", "launch")
        again_ms = await go("2", "plan")
        screen = await settled(pilot)
        field(screen, "corpus.documents")
        await _rest()
        strokes = [await press(key) for _ in range(_ROUNDS) for key in _KEYS]

        async def redraw() -> None:
            screen.query_one(PlanPanels).redraw()
            await _rest()

        panels = [await _cost_ms(redraw) for _ in range(_ROUNDS)]
    return Cost(columns, rows, empty_ms, open_ms, again_ms, tuple(strokes), tuple(panels))


async def _arrived(pilot: Pilot[None], mode: str) -> None:
    await _until(lambda: pilot.app.current_mode == mode)
    await _rest()


async def _until(condition: Callable[[], bool]) -> None:
    for _ in range(3000):
        if condition():
            return
        await asyncio.sleep(0.01)


async def _rest() -> None:
    """Wait until nothing is left to do: a pilot's pause would ask every widget, which costs too."""
    for _ in range(_MOST_PAUSES):
        before_s = time.process_time()
        await asyncio.sleep(_PAUSE_S)
        if time.process_time() - before_s < _IDLE_S:
            return


def main() -> int:
    """Tell the costs at three sizes."""
    gc.freeze()  # as the app does when it is run
    for columns, rows in SIZES:
        print("\n".join(asyncio.run(measured(columns, rows)).lines()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
