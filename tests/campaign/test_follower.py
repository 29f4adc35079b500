"""A run that a detached process carries on: started, watched, stopped, and its failures said."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from kvtui import follower, launch
from kvtui.errors import PlanError, RecordError
from kvtui.paths import places
from kvtui.plan import load_plan
from kvtui.record import RunRecord
from kvtui.run_secrets import Secrets, read_secrets
from kvtui.run_state import state_of
from kvtui.services.feed import RunFeed
from kvtui.services.run_list import CUT_OFF, summary
from kvtui.services.runs import attach_run, stop_run
from tests.campaign.conftest import Operator
from tests.campaign.test_bad_input import assert_nothing_left
from tests.campaign.test_cut_off import STAND_IN
from tests.remote.waiting import LIMIT_S, reached


class Quiet:
    """A reporter that says nothing."""

    def say(self, text: str) -> None:
        """Not heard."""

    def phase(self, text: str) -> None:
        """Not heard."""


@pytest.fixture
def plan(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four documents without a cache, to an engine that only pretends; this is the operator's process."""
    for name in [name for name in os.environ if name.startswith(("XDG_", "SSH_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(operator.home))
    operator.engine(f"import runpy; runpy.run_path({str(STAND_IN)!r}, run_name='__main__')")
    path = operator.write_plan(kind="none")
    text = path.read_text().replace("capacity_gib = 1", "").replace("documents = 2", "documents = 4")
    path.write_text(text)
    return path


async def start(plan: Path, secrets: Secrets | None = None) -> RunRecord:
    record = await launch.new_run(load_plan(plan), places(), Quiet(), on_lab=False)
    await attach_run(record, secrets)
    return record


class Watching:
    """What a screen has read of a run so far, ten times a second."""

    def __init__(self, record: RunRecord) -> None:
        self._feed = RunFeed(record)
        self.kinds: set[str] = set()
        self.said: list[str] = []
        self.lines: list[str] = []

    async def until(self, kind: str) -> None:
        """Read on until an event of this kind has come."""
        async with asyncio.timeout(2 * LIMIT_S):
            while kind not in self.kinds:
                batch = self._feed.poll()
                self.kinds.update(event["kind"] for event in batch.events)
                self.said += [batch.now] if batch.now else []
                self.lines += [line for piece in batch.logs for line in piece.lines]
                await asyncio.sleep(0.1)


async def test_a_run_is_carried_on_by_a_process_of_its_own_and_seen_live(
    operator: Operator, plan: Path
) -> None:
    record = await start(plan)
    pid = record.follower_pid()
    assert pid is not None
    assert follower.alive(record)
    assert os.getsid(pid) == pid != os.getsid(0)
    assert summary(record).state == "running"
    watching = Watching(record)
    await watching.until("node_sample")
    await watching.until("run_done")
    await reached(lambda: not follower.alive(record))
    assert any(text.startswith("gpu-a: ") for text in watching.said)
    assert not record.now.exists()
    assert watching.lines == ["INFO:     Application startup complete."]
    await reached(lambda: f"Run {record.run}: done." in follower.last_words(record))
    assert summary(record).state == "done"
    assert_nothing_left(operator)


async def test_a_follower_that_was_killed_is_taken_over_from(operator: Operator, plan: Path) -> None:
    record = await start(plan)
    watching = Watching(record)
    await watching.until("first_token")
    pid = record.follower_pid()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    await reached(lambda: not follower.alive(record))
    assert summary(record).state == CUT_OFF
    await attach_run(record)
    await watching.until("run_done")
    await reached(lambda: not follower.alive(record))
    assert_nothing_left(operator)


async def test_a_second_follower_is_not_started(operator: Operator, plan: Path) -> None:
    record = await start(plan)
    assert await attach_run(record) == record.follower_pid()
    await stop_run(record, places(), Quiet())
    assert not follower.alive(record)
    assert summary(record).state == "stopped"
    assert_nothing_left(operator)


async def test_one_that_ends_at_once_is_told_in_its_own_sentence(operator: Operator, plan: Path) -> None:
    record = await start(plan)
    await stop_run(record, places(), Quiet())
    record.plan_file.write_text("{}")
    with pytest.raises(RecordError, match="is not the record of a run"):
        await attach_run(record)


def with_password(plan: Path) -> None:
    """Have the plan's store want a password."""
    plan.write_text(plan.read_text().replace("[store]", '[store]\npassword_env = "KVTUI_TEST_STORE"'))


async def test_secrets_reach_the_follower_and_no_file(
    operator: Operator, plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_password(plan)
    with pytest.raises(PlanError, match="KVTUI_TEST_STORE"):
        await start(plan)
    monkeypatch.setenv("KVTUI_TEST_STORE", "of-this-process")
    record = await start(plan)
    await stop_run(record, places(), Quiet())
    monkeypatch.delenv("KVTUI_TEST_STORE")
    await attach_run(record, Secrets(environment={"KVTUI_TEST_STORE": "s3cret-handed-over"}))
    watching = Watching(record)
    await watching.until("run_done")
    await reached(lambda: not follower.alive(record))
    held = [
        path for path in record.path.rglob("*") if path.is_file() and b"s3cret-handed" in path.read_bytes()
    ]
    assert held == []
    assert_nothing_left(operator)


async def test_standard_input_that_holds_something_else(operator: Operator, plan: Path) -> None:
    record = await start(plan)
    process = await operator.start("attach", record.run, "--secrets-stdin")
    _, stderr = await process.communicate()
    assert process.returncode == 2
    assert "secrets on standard input" in stderr.decode()
    await stop_run(record, places(), Quiet())
    assert state_of(record_events(record))[0] == "stopped"


def record_events(record: RunRecord) -> list[dict[str, object]]:
    """All events of a record, as a screen reads them."""
    return list(RunFeed(record).poll().events)


def test_secrets_read_back_and_are_not_shown(tmp_path: Path) -> None:
    secrets = Secrets({"A": "one"}, {"~/.ssh/id": "two"})
    path = tmp_path / "pipe"
    path.write_text(secrets.to_text())
    with path.open() as pipe:
        assert read_secrets(pipe) == secrets
    assert "one" not in repr(secrets)
    for text in ("", "[]", '{"environment": 1}', '{"environment": {"A": 1}}', '{"other": {}}'):
        path.write_text(text)
        with path.open() as pipe, pytest.raises(RecordError, match="standard input"):
            read_secrets(pipe)
