"""Which blocks are started anew after an attach, as far as the record alone says."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvtui.campaign.context import Context
from kvtui.campaign.revive import lost
from kvtui.campaign.steps import Block, Step, StepKind
from kvtui.campaign.target import Target
from kvtui.journal import Journal
from kvtui.plan import Topology
from kvtui.progress import Progress
from kvtui.record import RunRecord
from tests.kvtui.plans import lab_plan

BLOCK = Block("valkey", (Topology.SINGLE, Topology.FLEET))


@pytest.fixture
def ctx(tmp_path: Path) -> Context:
    """A run without a single link: asking a node would fail."""
    record = RunRecord(tmp_path)
    return Context(lab_plan(), Target({}, {}, "m"), record, Journal(record.events), {}, Progress())


def done(ctx: Context, kind: StepKind, topology: Topology | None = None) -> None:
    ctx.journal.append("step_done", step=ctx.key(Step(kind, BLOCK, topology)), record={})


def planned(ctx: Context) -> None:
    ctx.journal.append("engine_planned", block=BLOCK.name, attempt=ctx.attempt(BLOCK), node="gpu-a")


async def test_a_block_that_was_never_planned_is_not_lost(ctx: Context) -> None:
    assert not await lost(ctx, BLOCK)


async def test_a_block_that_is_measured_is_kept_though_its_engines_are_gone(ctx: Context) -> None:
    planned(ctx)
    done(ctx, StepKind.ENGINES)
    for topology in BLOCK.topologies:
        done(ctx, StepKind.CACHED, topology)
    assert not await lost(ctx, BLOCK)
    done(ctx, StepKind.STOP)
    assert not await lost(ctx, BLOCK)


@pytest.mark.parametrize("end", ["run_failed", "run_stopped"])
async def test_a_block_of_a_run_that_was_cleaned_up_is_lost(ctx: Context, end: str) -> None:
    planned(ctx)
    ctx.journal.append(end)
    assert await lost(ctx, BLOCK)
    ctx.journal.append("block_restarted", block=BLOCK.name)
    assert not await lost(ctx, BLOCK)
