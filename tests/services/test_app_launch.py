"""Starts of the app: what goes along, and that one which is given up leaves nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kvtui import follower, launch
from kvtui.paths import Places, places
from kvtui.plan import Plan
from kvtui.record import RunRecord, create
from kvtui.run_secrets import Secrets
from kvtui.services import app_launch
from kvtui.services.app_launch import AppLaunch
from kvtui.services.links import LinkPool
from kvtui.services.live_runs import Quiet
from tests.kvtui.knowing import seed_plan
from tests.remote.asker import Person


@pytest.fixture
def where(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Places:
    for name in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    return places()


class Starting(Quiet):
    """Hears how a start goes, and says nothing."""

    def handing_over(self) -> None:
        """Nothing."""


async def test_the_plan_to_begin_with_is_the_last_run_ones(where: Places) -> None:
    app = starter(where)
    assert app.last_plan()[1].lab
    first, damaged = create(where.runs, 0.0), create(where.runs, 10.0)
    first.write_json(first.plan_file, seed_plan().model_dump(mode="json"))
    damaged.write(damaged.plan_file, "{")
    assert app.last_plan() == (seed_plan().name, seed_plan())


def starter(where: Places) -> AppLaunch:
    asker = Person()
    asker.passphrases["/k"] = "p"
    return AppLaunch(where, LinkPool(asker), asker)


def stand_in(
    monkeypatch: pytest.MonkeyPatch, where: Places, reached: asyncio.Event, gate: asyncio.Event
) -> list[str]:
    """A start that waits for a gate, and tells when it was taken back."""
    taken_back: list[str] = []

    async def new_run(plan: Plan, places_: Places, reporter: Any, *, on_lab: bool) -> RunRecord:
        reached.set()
        try:
            await gate.wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            taken_back.append("lab")
            raise
        return create(where.runs, 0.0)

    monkeypatch.setattr(launch, "new_run", new_run)
    return taken_back


async def test_the_run_gets_what_was_typed(where: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = asyncio.Event()
    gate.set()
    stand_in(monkeypatch, where, asyncio.Event(), gate)
    given: list[Secrets] = []

    def start(record: RunRecord, secrets: Secrets) -> int:
        given.append(secrets)
        return 1

    monkeypatch.setattr(follower, "start", start)
    monkeypatch.setenv("STORE_PASSWORD", "s3cret")
    plan = seed_plan()
    assert plan.store is not None
    store = plan.store.model_copy(update={"password_env": "STORE_PASSWORD"})
    run = await starter(where).start(
        plan.model_copy(update={"store": store}), on_lab=False, teller=Starting()
    )
    assert (where.runs / run).is_dir()
    assert given == [Secrets({"STORE_PASSWORD": "s3cret"}, {"/k": "p"})]


async def test_leaving_gives_a_start_up_and_waits_for_it(
    where: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = asyncio.Event()
    taken_back = stand_in(monkeypatch, where, reached, asyncio.Event())
    app = starter(where)
    task = asyncio.create_task(app.start(seed_plan(), on_lab=True, teller=Starting()))
    await reached.wait()
    task.cancel()
    await app.settled()
    assert taken_back == ["lab"]
    with pytest.raises(asyncio.CancelledError):
        await task
    await app.settled()


async def test_a_run_whose_process_starts_too_late_is_stopped(
    where: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()
    gate.set()
    stand_in(monkeypatch, where, asyncio.Event(), gate)
    begun, stopped = asyncio.Event(), []
    loop = asyncio.get_running_loop()

    def start(record: RunRecord, secrets: Secrets) -> int:
        loop.call_soon_threadsafe(begun.set)
        return 1

    async def stop_run(record: RunRecord, *more: Any) -> None:
        stopped.append(record.run)

    monkeypatch.setattr(follower, "start", start)
    monkeypatch.setattr(app_launch, "stop_run", stop_run)

    class CancelThen(Starting):
        def handing_over(self) -> None:
            task.cancel()

    task = asyncio.create_task(starter(where).start(seed_plan(), on_lab=False, teller=CancelThen()))
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(stopped) == 1
    assert begun.is_set()
