"""The documents of a plan for the app: beside the event loop, with the run that sent them."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from corpus.generate import document
from kvtui.campaign.documents import make_documents, save_documents
from kvtui.check import Known
from kvtui.kvsize import KvShape
from kvtui.plan import Plan
from kvtui.record import RunRecord
from kvtui.services.app_documents import AppDocuments, latest_run
from tests.kvtui.test_own_documents import a_plan, letters

SHAPE = KvShape(4, 4, 64, 4)


async def known(plan: Plan) -> Known:
    """The model's KV, and nothing else."""
    return Known(shape=SHAPE)


async def ran(plan: Plan, runs: Path, run: str) -> RunRecord:
    """The record of a run that has cut its documents."""
    record = RunRecord(runs / run)
    record.path.mkdir(parents=True)
    record.write(record.plan_file, plan.model_dump_json())
    save_documents(await make_documents(plan, letters), record.documents)
    return record


async def test_the_latest_run_that_sent_these_documents_tells_the_borders(tmp_path: Path) -> None:
    plan, other = a_plan(), a_plan(seed=99)
    documents = AppDocuments(tmp_path, known)
    assert latest_run(plan, tmp_path) is None
    assert (await documents.read(plan, 0)).chunk_ends is None
    await ran(plan, tmp_path, "260101-000000-aaaa")
    last = await ran(plan, tmp_path, "260102-000000-aaaa")
    await ran(other, tmp_path, "260103-000000-aaaa")
    torn = tmp_path / "260104-000000-aaaa"
    torn.mkdir()
    (torn / "plan.json").write_text("{", encoding="utf-8")
    assert latest_run(plan, tmp_path) == last
    found = await documents.all(plan, lambda done: None)
    assert found.working_set_bytes == SHAPE.document_bytes(6 * 256, 256)
    assert (await documents.read(plan, 0)).chunk_ends == (256, 512)
    renamed = plan.model_copy(update={"name": "another"})
    assert latest_run(renamed, tmp_path) == last


async def test_the_loop_goes_on_while_documents_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    going, told = threading.Event(), asyncio.Event()

    def slow(seed: int, place: int, characters: int) -> object:
        if place == 1:
            assert going.wait(30)
        return document(seed, place, characters)

    monkeypatch.setattr("kvtui.services.corpus.document", slow)
    heard: list[int] = []

    def tell(done: int) -> None:
        heard.append(done)
        if done == 1:
            told.set()

    task = asyncio.create_task(AppDocuments(tmp_path, known).all(a_plan(), tell))
    async with asyncio.timeout(30):
        await told.wait()
        assert not task.done()
        going.set()
        assert len((await task).rows) == 3
    assert heard == [0, 1, 2]


async def test_who_stops_waiting_stops_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    going, told, over = threading.Event(), asyncio.Event(), threading.Event()
    made: list[int] = []

    def slow(seed: int, place: int, characters: int) -> object:
        made.append(place)
        assert going.wait(30)
        over.set()
        return document(seed, place, characters)

    monkeypatch.setattr("kvtui.services.corpus.document", slow)
    task = asyncio.create_task(AppDocuments(tmp_path, known).all(a_plan(), lambda done: told.set()))
    async with asyncio.timeout(30):
        await told.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        going.set()
        await asyncio.to_thread(over.wait)
        # Waits until the thread is done.
        await asyncio.get_running_loop().shutdown_default_executor()
    assert made == [0]
