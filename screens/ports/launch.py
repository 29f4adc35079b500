"""What the Launch screen asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kvtui.plan import Plan
from kvtui.preflight import CheckRow

Told = Callable[[tuple[CheckRow, ...]], None]


class Teller(Protocol):
    """Who is told what happens."""

    def say(self, text: str) -> None:
        """Something worth a line."""

    def phase(self, text: str) -> None:
        """What is happening this second; replaces what was said before."""


class StartTeller(Teller, Protocol):
    """Who is told how a start goes."""

    def handing_over(self) -> None:
        """All is made ready; the run is given to a process of its own."""


class Launching(Protocol):
    """Checking plans, and starting runs."""

    def last_plan(self) -> tuple[str, Plan]:
        """The plan that was run last, or kvtui's own where none was; with its name."""

    async def check(self, plan: Plan, *, on_lab: bool, told: Told) -> tuple[CheckRow, ...]:
        """Check everything on all nodes; ``told`` gets all rows whenever one changes."""

    async def recheck(self, row: CheckRow, told: Told) -> tuple[CheckRow, ...]:
        """Check again what one row of the last check depends on."""

    def mended(self, row: CheckRow) -> Plan | None:
        """The plan with the fix of a row; ``None`` where the plan is not what can be mended."""

    async def measure(self, said: Callable[[str], None], told: Told) -> None:
        """Measure the ceilings of the engine nodes, one after another.

        Raises:
            RemoteError: Something could not be measured; what could be is kept.
        """

    def script(self, plan: Plan) -> str:
        """The commands and files with which the plan's engines start.

        Raises:
            PlanError: A value does not survive the way there.
        """

    async def start(self, plan: Plan, *, on_lab: bool, teller: StartTeller) -> str:
        """Make a run that goes on by itself; its id. Cancelled, it takes back what it began.

        Raises:
            KvtuiError: It cannot be started.
        """

    def what_stops(self, run: str) -> tuple[str, ...]:
        """What stopping a run would end and remove, one a line."""

    async def stop(self, run: str) -> None:
        """Stop a run and undo what it did on its nodes.

        Raises:
            KvtuiError: Something of it is left.
        """
