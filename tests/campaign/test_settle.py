"""How many chunks a tier is waited for after a cold pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.fit_combinations import lab_shape
from corpus.tokens import TokenDocument
from kvtui.campaign.context import Context
from kvtui.campaign.steps import blocks
from kvtui.campaign.target import Target
from kvtui.campaign.tiers import expected_chunks
from kvtui.journal import Journal
from kvtui.plan import Passes, Policy, Tier, TierKind, Topology
from kvtui.progress import Progress
from kvtui.record import RunRecord
from tests.kvtui.plans import lab_plan

CHUNK_GIB = 1 / 512
DOCUMENTS = [TokenDocument(f"d{one}", tuple(range(one, one + 1040)), None, "") for one in range(8)]


def expected(directory: Path, policy: Policy, chunks: int, purpose: str = "") -> int:
    tier = Tier(name="disk", kind=TierKind.DISK, capacity_gib=chunks * CHUNK_GIB, path="~/kv", policy=policy)
    plan = lab_plan()
    corpus = plan.corpus.model_copy(update={"documents": len(DOCUMENTS), "tokens": 1040})
    passes = Passes(topologies=(Topology.SINGLE,))
    plan = plan.model_copy(update={"corpus": corpus, "passes": passes, "tiers": (tier,)})
    record = RunRecord(directory)
    ctx = Context(plan, Target({}, {}, "m"), record, Journal(record.events), {}, Progress())
    ctx.shape = lab_shape()
    (block,) = blocks(plan)
    found = expected_chunks(ctx, block, DOCUMENTS, purpose)
    ctx.journal.close()
    return found


@pytest.mark.parametrize(
    ("policy", "chunks", "arrive"),
    [
        (Policy.LRU, 28, 28),
        (Policy.FIFO, 28, 28),
        (Policy.LFU, 28, 20),  # as in a real run: the gate's two documents stay
        (Policy.MRU, 28, 12),  # as in a real run: those of the warm-up too
        (Policy.MRU, 100, 32),
        (Policy.MRU, 10, 0),
    ],
)
def test_a_disk_tier_is_waited_for_as_many_chunks_as_its_policy_leaves_room_for(
    tmp_path: Path, policy: Policy, chunks: int, arrive: int
) -> None:
    assert expected(tmp_path, policy, chunks) == arrive


def test_the_gates_own_documents_are_waited_for_whole(tmp_path: Path) -> None:
    assert expected(tmp_path, Policy.MRU, 28, "gate") == 28
