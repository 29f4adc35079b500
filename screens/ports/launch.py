"""What the Launch screen asks for."""

from __future__ import annotations

from typing import Protocol

from kvtui.plan import Plan


class Teller(Protocol):
    """Who is told what happens."""

    def say(self, text: str) -> None:
        """Something worth a line."""

    def phase(self, text: str) -> None:
        """What is happening this second; replaces what was said before."""


class Launching(Protocol):
    """Starting runs."""

    async def start(self, plan: Plan, *, on_lab: bool, teller: Teller) -> str:
        """Make a run that goes on by itself; its id. Cancelled, it takes back what it began.

        Raises:
            KvtuiError: It cannot be started.
        """
