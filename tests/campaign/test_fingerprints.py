"""A fleet whose engines' keys differ stops once they have started, before any request; the logs are real."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench.fit_combinations import lab_shape
from kvtui.campaign import block_steps, engines, runner
from kvtui.campaign.context import Context
from kvtui.campaign.steps import Block, Step, StepKind
from kvtui.campaign.target import Target
from kvtui.errors import PreflightError
from kvtui.findings import Finding, Level, from_json
from kvtui.journal import Event, Journal, read_events
from kvtui.plan import Hash, Passes, Plan, Tier, TierKind, Topology
from kvtui.progress import Progress
from kvtui.record import RunRecord
from tests.kvtui.plans import lab_plan

LOGS = Path(__file__).parents[1] / "data" / "logs"
SENDS = {StepKind.CORPUS, StepKind.WARMUP, StepKind.GATE, StepKind.COLD, StepKind.CACHED}


def none_hashes(log: str) -> str:
    """What a real engine printed; without a seed its scheduler and its worker differ too."""
    text = (LOGS / log).read_text(encoding="utf-8", errors="replace")
    return " and ".join(dict.fromkeys(re.findall(r"Initialized NONE_HASH=(\d+)", text)))


class Engines:
    """Two started engines: their processes' environment, and what they printed."""

    def __init__(self, run: str, logs: dict[str, str]) -> None:
        self._run = run
        self._logs = logs

    def log_copy(self, ctx: Context, block: Block, node: str) -> Any:
        """The copy of an engine's log."""

        async def update() -> None:
            """It is whole."""

        def lines() -> Iterator[str]:
            text = (LOGS / self._logs[node]).read_text(encoding="utf-8", errors="replace")
            return iter(text.splitlines())

        return SimpleNamespace(update=update, lines=lines)

    def engine(self, ctx: Context, block: Block, node: str) -> Any:
        """The engine."""

        async def environ(names: list[str]) -> list[Any]:
            return [SimpleNamespace(values={"PYTHONHASHSEED": None, "KVTUI_RUN": self._run})]

        return SimpleNamespace(environ=environ)


def fleet(accepted: bool) -> Plan:
    """A fleet over a store, its engines without a seed."""
    plan = lab_plan()
    passes = Passes(topologies=(Topology.FLEET,))
    tier = Tier(name="valkey", kind=TierKind.VALKEY, capacity_gib=1)
    keys = Hash(seed=None, accept_differing=accepted)
    return plan.model_copy(update={"passes": passes, "tiers": (tier,), "hash": keys})


async def walked(
    directory: Path, monkeypatch: pytest.MonkeyPatch, logs: tuple[str, str], *, accepted: bool = False
) -> tuple[list[StepKind], tuple[Event, ...], str]:
    """Carry a run out up to its end: the steps that were done, its events, and why it stopped."""
    record = RunRecord(directory)
    plan = fleet(accepted)
    record.write_json(record.plan_file, plan.model_dump(mode="json"))
    ctx = Context(plan, Target({}, {}, "m"), record, Journal(record.events), {}, Progress())
    did: list[StepKind] = []

    async def nothing(*arguments: Any, **named: Any) -> dict[str, Any]:
        return {}

    async def prepare(ctx: Context) -> dict[str, Any]:
        return asdict(lab_shape())

    def noted(kind: StepKind, work: Any) -> Any:
        async def one(ctx: Context, block: Block, step: Step) -> dict[str, Any]:
            did.append(kind)
            return dict(await work(ctx, block, step))

        return one

    class Quiet:
        block: Block | None = None

        def __init__(self, ctx: Context) -> None:
            """Nothing is watched."""

        @asynccontextmanager
        async def working(self) -> AsyncIterator[None]:
            yield

    real = block_steps.WORK[StepKind.FINGERPRINT]
    work = {kind: noted(kind, real if kind is StepKind.FINGERPRINT else nothing) for kind in block_steps.WORK}
    monkeypatch.setattr(runner, "WORK", work)
    monkeypatch.setattr(runner, "Background", Quiet)
    monkeypatch.setattr(runner, "prepare", prepare)
    for name in ("connect", "end_early"):
        monkeypatch.setattr(runner, name, nothing)
    started = Engines(ctx.run, dict(zip(plan.engine_nodes, logs, strict=True)))
    monkeypatch.setattr(engines, "log_copy", started.log_copy)
    monkeypatch.setattr(engines, "engine", started.engine)
    why = ""
    try:
        await runner.run(ctx)
    except PreflightError as error:
        why = str(error)
    finally:
        ctx.journal.close()
    return did, read_events(record.events), why


def found(events: tuple[Event, ...]) -> list[Finding]:
    """The findings about keys."""
    return [
        from_json(event["finding"])
        for event in events
        if event["kind"] == "finding" and event["finding"]["code"] == "fingerprint-differs"
    ]


DIFFERENT = ("fleet-sha-seed-unset-node-a.log", "fleet-sha-seed-unset-node-b.log")
EQUAL = ("fleet-sha-seed-0-node-a.log", "fleet-sha-seed-0-node-a.log")


async def test_different_none_hashes_stop_the_run_before_its_first_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    did, events, why = await walked(tmp_path, monkeypatch, DIFFERENT)
    assert did == [StepKind.EMPTY, StepKind.ENGINES, StepKind.FINGERPRINT]
    assert not SENDS & set(did)
    assert "not as the plan needs them" in why
    (finding,) = found(events)
    assert finding.level is Level.BLOCKING
    one, other = (none_hashes(log) for log in DIFFERENT)
    assert one != other
    first, second = fleet(accepted=False).engine_nodes
    assert f"NONE_HASH: {first} {one}, {second} {other}" in finding.text


async def test_an_operator_who_says_so_goes_on_and_the_run_is_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    did, events, why = await walked(tmp_path, monkeypatch, DIFFERENT, accepted=True)
    assert not why
    assert set(did) >= SENDS
    assert events[-1]["kind"] == "run_done"
    (finding,) = found(events)
    assert finding.level is Level.WARNING
    assert "its fleet measures misses" in finding.text
    assert all(none_hashes(log) in finding.text for log in DIFFERENT)


async def test_equal_engines_are_not_spoken_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    did, events, why = await walked(tmp_path, monkeypatch, EQUAL)
    assert not why
    assert set(did) >= SENDS
    assert not found(events)
