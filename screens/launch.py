"""Launch: what stands in the way of the plan, and its start."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Log, Static

from kvtui.loglines import clean
from kvtui.plan import Plan
from kvtui.preflight import SIGNS, CheckRow, verdict
from screens.background import in_background
from screens.base import KvtuiScreen, host
from screens.commands import Command, bindings
from screens.figures import span
from screens.modals.question import confirm
from screens.ports.launch import Launching
from screens.session import Session
from screens.signs import sign_text
from screens.widgets.check_detail import detail_grid
from screens.widgets.checks import CheckTable
from screens.widgets.sequence import sequence_grid, sequence_of, start_of

_SAID_LINES = 500
# Steps of ``start_of``.
_MAKING_READY, _HANDING_OVER = 1, 2


class LaunchScreen(KvtuiScreen):
    """The checks, what the run will do, and how it comes up."""

    MODE = "launch"
    CSS_PATH = "launch.tcss"
    ACTIONS: ClassVar[tuple[Command, ...]] = (
        Command("launch.run", "enter", "Run", "Start the plan; only a failed check stops it.", "start", True),
        Command("launch.recheck", "r", "Re-check", "Check the row under the cursor again.", "recheck"),
        Command("launch.check", "R", "All", "Check everything again.", "check"),
        Command("launch.fix", "f", "Fix", "Say what can be done about the row, and do it.", "fix", True),
        Command("launch.measure", "c", "Ceilings", "Measure what the nodes can do.", "measure", True),
        Command("launch.copy", "y", "Copy", "Copy the commands that start the engines.", "copy_commands"),
        Command("launch.stop", "x", "Stop", "Give up the start, or stop the run under way.", "stop", True),
    )
    BINDINGS: ClassVar[list[BindingType]] = bindings(ACTIONS)

    def __init__(
        self, session: Session, launching: Launching, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(session)
        self._now_s = now_s
        self._port = launching
        self._rows: tuple[CheckRow, ...] = ()
        self._checked: tuple[Plan, bool] | None = None
        self._asked_for: tuple[Plan, bool] | None = None
        self._asking = asyncio.Lock()
        self._measuring = False
        self._starting: asyncio.Task[str] | None = None
        self._step, self._step_began_s, self._phase = 0, 0.0, ""
        self._ended: tuple[str, str] | None = None

    def compose_body(self) -> Iterable[Widget]:
        """Checks above, the one under the cursor and the start below, and what stands in the way."""
        checks = Vertical(CheckTable(id="checks"), id="checks-panel", classes="panel")
        detail = VerticalScroll(Static(id="detail"), id="detail-panel", classes="panel")
        start = VerticalScroll(
            Static(id="sequence"), Log(id="said", max_lines=_SAID_LINES), id="start-panel", classes="panel"
        )
        return [
            checks,
            Horizontal(detail, start, id="below"),
            Static(id="line"),
        ]

    def on_mount(self) -> None:
        """A start's time goes on."""
        self.set_interval(1.0, self._draw_steps)

    def on_screen_resume(self) -> None:
        """Check a plan that is new here; start it where that was asked for."""
        session = self.session
        if session.plan is None:
            session.plan_name, session.plan = self._port.last_plan()
        self._draw()
        start = session.start_now and not getattr(self.app, "readonly", False)
        if start:
            session.start_now = False
            self.action_start()
        # A run under way is not to be disturbed by questions that nobody asked for.
        elif self._asked_for != self._wanted and self._starting is None and session.live_run is None:
            self.action_check()

    @property
    def _wanted(self) -> tuple[Plan, bool] | None:
        plan = self.session.plan
        return None if plan is None else (plan, self.session.on_lab)

    @property
    def _on_lab(self) -> bool:
        plan = self.session.plan
        return plan is not None and (plan.lab or self.session.on_lab)

    # What is shown

    def _draw(self) -> None:
        plan = self.session.plan
        if plan is None:
            return
        rows = self._rows if self._checked == self._wanted else ()
        columns = tuple(dict.fromkeys(row.node for row in rows if row.node))
        self.query_one(CheckTable).set_rows(rows, columns)
        panel = self.query_one("#checks-panel")
        where = " on the lab of this machine" if self._on_lab else ""
        panel.border_title = clean(f"Preflight: {plan.name}{where}")
        panel.border_subtitle = verdict(rows).counts()
        self._draw_start()
        self._draw_line()

    def _draw_start(self) -> None:
        plan, starting = self.session.plan, self._starting is not None
        panel = self.query_one("#start-panel")
        said = self.query_one("#said", Log)
        panel.border_title = "Starting" if starting else "Start sequence"
        said.display = starting
        sequence = self.query_one("#sequence", Static)
        if plan is not None and starting:
            self._draw_steps()
        elif plan is not None:
            lines = sequence_of(plan, on_lab=self._on_lab)
            sequence.update(sequence_grid(self.app, lines, -1))

    def _draw_steps(self) -> None:
        """How far the start is, for how long, and what it does this second."""
        if self._starting is None or not self.is_mounted:
            return
        now = f"{span(self._now_s() - self._step_began_s)}  {self._phase}"
        lines = start_of(on_lab=self._on_lab)
        self.query_one("#sequence", Static).update(sequence_grid(self.app, lines, self._step, now))

    def _draw_line(self) -> None:
        if self._starting is not None or self._measuring:
            return
        live = self.session.live_run
        if self._ended is not None:
            self._line(*self._ended)
            return
        if live is not None:
            self._line("●", f"Run {live} is under way: 4 shows it, x stops it.")
            return
        if self._checked != self._wanted:
            self._line("·", "Not checked yet: R checks everything, enter checks and runs.")
            return
        found = verdict(self._rows)
        if found.blocking:
            fix = " f can fix it." if any(row.fix for row in found.blocking) else ""
            self._line("✗", f"{found.sentence()}{fix}")
        elif found.running:
            self._line("◐", found.sentence())
        else:
            self._line("!" if found.warnings else "✓", f"{found.sentence()} Press enter to run.")

    def _line(self, sign: str, text: str) -> None:
        line = Text.assemble(sign_text(self.app, sign), " ", clean(text))
        self.query_one("#line", Static).update(line)

    @on(CheckTable.Moved)
    def _draw_detail(self) -> None:
        line = self.query_one(CheckTable).current
        panel = self.query_one("#detail-panel")
        panel.border_title = clean(line.title) if line else "Details"
        panel.border_subtitle = SIGNS[line.state] + f" {line.state}" if line else ""
        self.query_one("#detail", Static).update(detail_grid(self.app, line.rows if line else ()))

    # Checks

    def _told(self, rows: tuple[CheckRow, ...]) -> None:
        if rows != self._rows or self._checked != self._wanted:
            self._rows, self._checked = rows, self._wanted
            if self.is_mounted:
                self._draw()

    def action_check(self) -> None:
        """Check everything."""
        if self.session.plan is not None and self._starting is None:
            self._asked_for = self._wanted
            in_background(self, self._check, "check")

    async def _check(self) -> None:
        async with self._asking:
            plan = self.session.plan
            if plan is None:
                return
            self._ended = None
            self._told(await self._port.check(plan, on_lab=self.session.on_lab, told=self._told))
        blocking = verdict(self._rows).blocking
        if blocking:
            self.query_one(CheckTable).move_to(blocking[0].id)

    def action_recheck(self) -> None:
        """Check one row again, on all its nodes."""
        line = self.query_one(CheckTable).current
        if line is None or self._asking.locked() or self._starting is not None:
            return

        async def work() -> None:
            async with self._asking, asyncio.TaskGroup() as group:
                for row in line.rows:
                    group.create_task(self._port.recheck(row, self._told))

        in_background(self, work, "recheck")

    def action_fix(self) -> None:
        """Say what the fix of the row does, ask, and do it."""
        line = self.query_one(CheckTable).current
        row = next((row for row in line.rows if row.fix), None) if line else None
        if row is None:
            self.app.notify("Nothing that kvtui could fix in this row.", markup=False)
        elif row.id == "ceilings":
            self.action_measure()
        else:
            in_background(self, partial(self._fix, row), "fix")

    async def _fix(self, row: CheckRow) -> None:
        lines = (clean(row.fix), "", "The plan here is changed; its file stays as it is until you save it.")
        if await self.app.push_screen_wait(confirm(clean(row.title), lines, "Change the plan")) != "do":
            return
        mended = self._port.mended(row)
        if mended is not None:
            self.session.plan = mended
            self.action_check()

    def action_measure(self) -> None:
        """Measure the ceilings of all engine nodes, after a question."""
        if self._measuring or self._starting is not None or not any(r.id == "ceilings" for r in self._rows):
            return
        in_background(self, self._measure, "measure")

    async def _measure(self) -> None:
        nodes = dict.fromkeys(row.node for row in self._rows if row.id == "ceilings")
        lines = (
            f"Disk, network and memory of {', '.join(nodes)} are measured, one node after another.",
            "Up to 2 GiB are written below each disk tier's path, up to 512 MiB into the store,",
            "and removed again. It takes up to two minutes a node.",
        )
        if await self.app.push_screen_wait(confirm("Measure ceilings", lines, "Measure")) != "do":
            return
        self._measuring = True
        try:
            await self._port.measure(lambda text: self._line("◐", text), self._told)
        finally:
            self._measuring = False
            self._draw_line()

    def action_copy_commands(self) -> None:
        """Copy the commands that start the engines."""

        async def work() -> None:
            if self.session.plan is not None:
                host(self.app).copy(self._port.script(self.session.plan), "the plan's commands")

        in_background(self, work, "copy")

    # The start

    def say(self, text: str) -> None:
        """Something worth a line."""
        self.query_one("#said", Log).write_lines([clean(text)])

    def phase(self, text: str) -> None:
        """What is happening this second."""
        self._phase = text
        self._line("◐", text)
        self._draw_steps()

    def handing_over(self) -> None:
        """The run is given to a process of its own."""
        self._begin_step(_HANDING_OVER)
        self._line("◐", "Handing the run to a process of its own.")

    def _begin_step(self, step: int) -> None:
        self._step, self._step_began_s, self._phase = step, self._now_s(), ""
        self._draw_steps()

    def action_start(self) -> None:
        """Start the plan, unless a check fails."""
        if self.session.plan is not None and self._starting is None:
            self._asked_for = self._wanted
            in_background(self, self._start, "start")

    async def _start(self) -> None:
        if self._asking.locked():
            async with self._asking:
                pass
        # Before a second run everything is looked at anew: the first may have its nodes.
        if self._checked != self._wanted or self.session.live_run is not None:
            await self._check()
        plan = self.session.plan
        if plan is None or verdict(self._rows).blocking:
            self.app.bell()
            return
        self._ended = None
        self.query_one("#said", Log).clear()
        self._starting = asyncio.create_task(self._port.start(plan, on_lab=self.session.on_lab, teller=self))
        self._begin_step(_MAKING_READY)
        self._draw_start()
        self._line("◐", "Starting.")
        try:
            run = await self._starting
        except asyncio.CancelledError:
            self._over("!", "The start was given up. Press enter to run.")
            return
        except Exception:
            self._over("✗", "It could not be started. Press enter to try again.")
            raise
        self.session.run, self.session.replay = run, False
        self._over("✓", f"Run {run} has begun: 4 shows it live.")
        if self.app.screen is self:
            await self.run_action("app.mode('live')")

    def _over(self, sign: str, text: str) -> None:
        """Say how the start ended, until something else is asked for."""
        self._starting, self._ended = None, (sign, text)
        if self.is_mounted:
            self._draw_start()
            self._draw_line()

    def action_stop(self) -> None:
        """Give up the start, or stop the run under way, after a question."""
        if self._starting is not None:
            in_background(self, self._give_up, "stop")
        elif self.session.live_run is not None:
            in_background(self, self._stop, "stop")
        else:
            self.app.notify("Nothing is under way.", markup=False)

    async def _give_up(self) -> None:
        lines = ("What the start has begun is taken back; an installation goes on where it stood next time.",)
        answer = await self.app.push_screen_wait(confirm("Give up the start", lines, "Give up"))
        if answer == "do" and self._starting is not None:
            self._line("◐", "Giving up the start.")
            self._starting.cancel()

    async def _stop(self) -> None:
        run = self.session.live_run
        if run is None:
            return
        lines = tuple(clean(line) for line in self._port.what_stops(run))
        if await self.app.push_screen_wait(confirm(f"Stop run {run}", lines, "Stop the run")) == "do":
            self._line("◐", f"Stopping run {run}.")
            await self._port.stop(run)
            self._ended = "✓", f"Run {run} is stopped; what it measured is kept."
            self._draw_line()
