"""Saving, opening and choosing plans, each with the questions that it takes."""

from __future__ import annotations

from collections.abc import Mapping

from textual.app import App

from kvtui.errors import KvtuiError
from kvtui.loglines import clean
from kvtui.plan import Plan
from screens.modals.plan_picker import PlanChoice, PlanPicker
from screens.modals.question import confirm
from screens.modals.secret import AskText
from screens.ports.plans import Plans


class PlanFiles:
    """The files of plans, seen from a screen.

    Args:
        app: The app that asks.
        port: The plans.
        shipped: kvtui's own plans by name.
    """

    def __init__(self, app: App[object], port: Plans, shipped: Mapping[str, Plan]) -> None:
        self._app = app
        self._port = port
        self._shipped = shipped

    async def save(self, plan: Plan, name: str) -> tuple[str, Plan] | None:
        """Save a plan under a name that a person gives.

        Args:
            plan: The plan.
            name: The name to begin with; a file of it is replaced without a question.

        Returns:
            The name, and the plan as it is kept; ``None`` when it was given up.
        """
        why, own = "Small letters, digits and single dashes.", name
        while True:
            typed = await self._app.push_screen_wait(AskText("Save the plan as", why, name))
            if typed is None:
                return None
            name = typed.strip()
            if name in self._port.names() and name != own:
                lines = (f"There is a plan {name} already. It is replaced by this one.",)
                if await self._app.push_screen_wait(confirm("Save the plan", lines, "Replace")) != "do":
                    continue
            try:
                return name, self._port.save(name, plan)
            except KvtuiError as error:
                why = clean(str(error))

    async def choose(self, title: str) -> tuple[str, Plan] | None:
        """Let a person choose a plan.

        Raises:
            KvtuiError: The plan of that name cannot be read.
        """
        saved = [PlanChoice("saved", name) for name in self._port.names()]
        choices = saved + [PlanChoice("shipped", name) for name in self._shipped]
        choice = await self._app.push_screen_wait(PlanPicker(title, choices))
        if choice is None:
            return None
        if choice.source == "shipped":
            return choice.name, self._shipped[choice.name]
        return choice.name, self._port.load(choice.name)

    async def may_lose(self) -> bool:
        """Ask whether what was changed may be lost."""
        lines = ("The plan in the form has changes that are not saved. They would be lost.",)
        return await self._app.push_screen_wait(confirm("Open a plan", lines, "Open")) == "do"
