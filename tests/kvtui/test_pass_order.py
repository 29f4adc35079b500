"""The order of the passes, from the plan to the requests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.tokens import TokenDocument
from kvtui.campaign.documents import in_order
from kvtui.fit import Scan, pass_order, predict
from kvtui.kvsize import KvShape
from kvtui.plan import Order, Plan, Policy, Tier, TierKind, Topology
from kvtui.record import RunRecord
from kvtui.recordings import RECORDED
from kvtui.samples import Pass
from tests.kvtui.knowing import changed
from tests.kvtui.plans import lab_plan

DOCUMENTS = [TokenDocument(f"d{number}", (number,), None, "") for number in range(8)]
SHAPE = KvShape(4, 4, 64, 4)


def plan(**passes: Any) -> Plan:
    return changed(lab_plan(), passes=passes)


@pytest.mark.parametrize("order", list(Order))
def test_a_cached_pass_has_an_order_against_its_cold_pass(order: Order) -> None:
    made = plan(order=order, cold_order="listed")
    assert list(in_order(made, Pass.COLD, 1, DOCUMENTS)) == DOCUMENTS
    cached = in_order(made, Pass.CACHED, 1, DOCUMENTS)
    assert sorted(cached, key=lambda document: document.document_id) == DOCUMENTS
    assert (list(cached) == DOCUMENTS) == (order is Order.SAME)
    assert (list(cached) == DOCUMENTS[::-1]) == (order is Order.REVERSED)
    assert cached == in_order(made, Pass.CACHED, 1, DOCUMENTS)


@pytest.mark.parametrize("order", list(Order))
def test_cold_passes_are_shuffled_anew_in_each_repeat_and_the_cached_ones_with_them(order: Order) -> None:
    made = plan(order=order, cold_order="shuffled")
    cold = [in_order(made, Pass.COLD, repeat, DOCUMENTS) for repeat in (1, 2, 3)]
    cached = [in_order(made, Pass.CACHED, repeat, DOCUMENTS) for repeat in (1, 2, 3)]
    assert len({*cold, tuple(DOCUMENTS)}) == 4
    moves = {
        tuple(before.index(document) for document in after)
        for before, after in zip(cold, cached, strict=True)
    }
    assert len(moves) == 1
    assert (moves == {tuple(range(8))}) == (order is Order.SAME)
    assert (moves == {tuple(reversed(range(8)))}) == (order is Order.REVERSED)
    assert in_order(plan(cold_order="shuffled", shuffle_seed=1), Pass.COLD, 1, DOCUMENTS) != cold[0]


def test_the_record_of_a_plan_from_before_was_cold_in_the_order_of_the_list() -> None:
    assert RunRecord(RECORDED).plan().passes.cold_order == "listed"
    assert RunRecord(RECORDED).plan().passes.repeats == 1


@st.composite
def scans(draw: st.DrawFn) -> Scan:
    chunk = draw(st.sampled_from([16, 256]))
    chunks = draw(st.integers(1, 4))
    shared = draw(st.integers(0, chunks - 1))
    return Scan(
        documents=draw(st.integers(1, 7)),
        tokens=chunks * chunk + draw(st.integers(0, 15)),
        chunk_tokens=chunk,
        passes=draw(st.integers(2, 3)),
        order=draw(st.sampled_from(Order)),
        seed=draw(st.integers(0, 99)),
        step_tokens=draw(st.sampled_from([128, 2048])),
        earlier=draw(st.sampled_from([(), ("a", "b"), ("a", "b", "c", "c")])),
        prefix_tokens=shared * chunk,
    )


@given(
    scan=scans(),
    kind=st.sampled_from([TierKind.DRAM, TierKind.DISK, TierKind.VALKEY]),
    policy=st.sampled_from(Policy),
    share=st.floats(0.05, 1.2),
    repeat=st.integers(1, 50),
)
def test_what_is_found_again_does_not_depend_on_the_shuffle_of_the_cold_pass(
    scan: Scan, kind: TierKind, policy: Policy, share: float, repeat: int
) -> None:
    shuffled = replace(scan, cold_shuffled=True, repeat=repeat)
    assert sorted(pass_order(shuffled, 0)) == list(range(scan.documents))
    gib = max(1, scan.working_chunks) * SHAPE.chunk_bytes(scan.chunk_tokens) * share / 2**30
    rest = {"path": "/x"} if kind is TierKind.DISK else {}
    own = {} if kind is TierKind.VALKEY else {"policy": policy}
    tier = Tier.model_validate({"name": "t", "kind": kind, "capacity_gib": gib, **rest, **own})
    found = [predict(tier, Topology.SINGLE, one, SHAPE) for one in (scan, shuffled)]
    assert found[0] == found[1]
