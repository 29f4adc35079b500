"""A plan's documents for the app, made in a thread beside the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

from kvtui.check import Known, shape_of
from kvtui.corpus_view import CorpusList, DocumentText
from kvtui.errors import KvtuiError
from kvtui.kvsize import KvShape
from kvtui.plan import Plan
from kvtui.record import RunRecord, records
from kvtui.services.corpus import corpus_list, document_text

# A machine that ran hundreds of campaigns is not searched for minutes.
_LOOKED_AT = 50


class _Stopped(Exception):
    """Nobody waits for the documents any more."""


def latest_run(plan: Plan, runs: Path) -> RunRecord | None:
    """The latest run that sent just these documents to the same model.

    Args:
        plan: The plan.
        runs: Directory of all runs.
    """
    for record in records(runs)[: -_LOOKED_AT - 1 : -1]:
        try:
            ran = record.plan()
        except KvtuiError:
            continue  # a record of another version says nothing here
        if record.documents.exists() and _what_is_sent(ran) == _what_is_sent(plan):
            return record
    return None


def _what_is_sent(plan: Plan) -> tuple[object, ...]:
    return plan.corpus, plan.hash.chunk_tokens, plan.model.served_name, plan.lab


class AppDocuments:
    """The documents of a plan, with what its latest run recorded of them.

    Args:
        runs: Directory of all runs.
        known: Tells what is known of a plan's model.
    """

    def __init__(self, runs: Path, known: Callable[[Plan], Awaitable[Known]]) -> None:
        self._runs = runs
        self._known = known
        self._beside: tuple[Plan, KvShape | None, RunRecord | None] | None = None

    async def all(self, plan: Plan, told: Callable[[int], None]) -> CorpusList:
        """All of them with their totals; who stops waiting stops the work after the document in hand.

        Args:
            plan: The plan.
            told: Hears how many are written, on the event loop.

        Raises:
            PlanError: A person's own documents are not there, or too few of them can be used.
        """
        self._beside = None
        shape, record = await self._look(plan)
        loop, stop = asyncio.get_running_loop(), threading.Event()

        def on_the_way(done: int) -> None:
            if stop.is_set():
                raise _Stopped
            loop.call_soon_threadsafe(told, done)

        try:
            return await asyncio.to_thread(corpus_list, plan, shape, record, on_the_way)
        finally:
            stop.set()

    async def read(self, plan: Plan, place: int) -> DocumentText:
        """The document at a place of the list.

        Raises:
            PlanError: A person's own documents are not there any more, or too few of them can be used.
        """
        shape, record = await self._look(plan)
        return await asyncio.to_thread(document_text, plan, place, shape, record)

    async def _look(self, plan: Plan) -> tuple[KvShape | None, RunRecord | None]:
        """The model's KV and the run, looked for once a list."""
        if self._beside is None or self._beside[0] != plan:
            sized = shape_of(plan, await self._known(plan))
            record = await asyncio.to_thread(latest_run, plan, self._runs)
            self._beside = (plan, sized[0] if sized else None, record)
        return self._beside[1:]
