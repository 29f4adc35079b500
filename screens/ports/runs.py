"""What Results and History ask for."""

from __future__ import annotations

from typing import Protocol

from kvtui.run_result import RunResult
from kvtui.services.run_list import RunSummary


class Runs(Protocol):
    """The runs on this machine."""

    async def all(self) -> tuple[RunSummary, ...]:
        """All runs, the latest first."""

    async def result(self, run: str | None) -> RunResult | None:
        """The result of a run, of the latest without an id; ``None`` when there is none.

        Raises:
            KvtuiError: Its record cannot be read.
        """

    async def delete(self, run: str) -> None:
        """Remove a run's record.

        Raises:
            KvtuiError: It is not over.
        """

    async def attach(self, run: str) -> None:
        """Have a process of its own carry on a run that was cut off.

        Raises:
            KvtuiError: It cannot.
        """

    def where(self, run: str) -> str:
        """Where its record is, for a person."""
