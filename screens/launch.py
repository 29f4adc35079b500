"""Launch: start the plan, and see it come up."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Log, Static

from kvtui.loglines import clean
from kvtui.plan import Plan
from screens.background import in_background
from screens.base import KvtuiScreen
from screens.commands import Command, bindings
from screens.ports.launch import Launching
from screens.session import Session
from screens.widgets.facts import facts_grid

_NO_PLAN = "There is no plan to launch. Press 2 to make one, or 1 and b for a run in the lab of this machine."
_SAID_LINES = 500


class LaunchScreen(KvtuiScreen):
    """The plan that will run, and its start."""

    MODE = "launch"
    CSS_PATH = "launch.tcss"
    ACTIONS: ClassVar[tuple[Command, ...]] = (
        Command("launch.run", "enter", "Run", "Start the plan.", "start", changes=True),
        Command("launch.stop", "x", "Stop", "Give up the start.", "stop", changes=True),
    )
    BINDINGS: ClassVar[list[BindingType]] = bindings(ACTIONS)

    def __init__(self, session: Session, launching: Launching) -> None:
        super().__init__(session)
        self._port = launching
        self._starting: asyncio.Task[str] | None = None

    def compose_body(self) -> Iterable[Widget]:
        """The plan, what is said while it starts, and what happens now."""
        plan = Vertical(Static(id="plan"), id="plan-panel", classes="panel")
        plan.border_title = "Launch"
        said = Vertical(Log(id="said", max_lines=_SAID_LINES), id="said-panel", classes="panel")
        said.border_title = "Start"
        return [plan, said, Static(id="line", markup=False)]

    def on_screen_resume(self) -> None:
        """Show the plan; start it where that was asked for."""
        self._draw()
        if self.session.start_now and not getattr(self.app, "readonly", False):
            self.session.start_now = False
            self.action_start()

    @property
    def _plan(self) -> Plan | None:
        return self.session.plan

    def _draw(self) -> None:
        plan = self._plan
        panel = self.query_one("#plan", Static)
        self.query_one("#said-panel").display = plan is not None
        if plan is None:
            panel.update(_NO_PLAN)
            return
        lab = plan.lab or self.session.on_lab
        tiers = ", ".join(
            tier.name + (f" {tier.capacity_gib:g} GiB" if tier.capacity_gib else "") for tier in plan.tiers
        )
        lines = (
            ("plan", plan.name),
            ("nodes", "the lab of this machine" if lab else ", ".join(plan.engine_nodes)),
            ("model", plan.model.path),
            ("documents", f"{plan.corpus.documents} of {plan.corpus.prompt_tokens:,} tokens"),
            ("tiers", tiers),
        )
        panel.update(facts_grid(self.app, lines))
        if self._starting is None:
            self.phase("Press enter to run it.")

    def say(self, text: str) -> None:
        """Something worth a line."""
        self.query_one("#said", Log).write_lines([clean(text)])

    def phase(self, text: str) -> None:
        """What is happening this second."""
        self.query_one("#line", Static).update(clean(text))

    def action_start(self) -> None:
        """Start the plan."""
        if self._plan is not None and self._starting is None:
            in_background(self, self._start, "start")

    async def _start(self) -> None:
        plan = self._plan
        if plan is None:
            return
        self.query_one("#said", Log).clear()
        self.phase("starting")
        self._starting = asyncio.create_task(self._port.start(plan, on_lab=self.session.on_lab, teller=self))
        try:
            run = await self._starting
        except asyncio.CancelledError:
            self.phase("The start was given up. Press enter to run it.")
            return
        except Exception:
            self.phase("It could not be started. Press enter to try again.")
            raise
        finally:
            self._starting = None
        self.session.run = run
        self.session.replay = False
        self.phase(f"Run {run} has begun: 4 shows it live.")
        if self.app.screen is self:
            await self.run_action("app.mode('live')")

    def action_stop(self) -> None:
        """Give up the start."""
        if self._starting is not None:
            self.phase("giving up the start")
            self._starting.cancel()
