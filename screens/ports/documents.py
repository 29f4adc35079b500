"""What the screen that reads documents asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kvtui.corpus_view import CorpusList, DocumentText
from kvtui.plan import Plan


class Documents(Protocol):
    """The documents of a plan, with what its latest run recorded of them."""

    async def all(self, plan: Plan, told: Callable[[int], None]) -> CorpusList:
        """All of them with their totals; who stops waiting stops the work.

        Args:
            plan: The plan.
            told: Hears how many are written.

        Raises:
            KvtuiError: A person's own documents are not there, or too few of them can be used.
        """

    async def read(self, plan: Plan, place: int) -> DocumentText:
        """The document at a place of the list.

        Raises:
            KvtuiError: It is not there any more.
        """
