"""The steps of a run, from its plan."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.campaign.layout import key_ending, tag
from kvtui.campaign.steps import Block, Step, StepKind, block_nodes, blocks, gated, serving_node, steps
from kvtui.eta import in_words, left_s
from kvtui.kvsize import KvShape
from kvtui.plan import Plan, Topology, load_plan
from kvtui.recordings import PLANS
from tests.kvtui.knowing import changed
from tests.kvtui.plans import lab_plan

S, F = Topology.SINGLE, Topology.FLEET


def test_a_shared_cold_pass_makes_one_block_a_tier_and_an_own_one_two() -> None:
    assert blocks(lab_plan())[0] == Block("none", (S, F))
    assert [block.name for block in blocks(load_plan(PLANS / "seed.toml"))] == [
        "dram-single",
        "dram-fleet",
        "disk-single",
        "disk-fleet",
        "valkey-single",
        "valkey-fleet",
    ]


def test_the_steps_of_a_block_come_in_order() -> None:
    kinds = [step.kind for step in steps(lab_plan()) if step.block == Block("valkey", (S, F))]
    assert kinds == [
        StepKind.EMPTY,
        StepKind.ENGINES,
        StepKind.FINGERPRINT,
        StepKind.WARMUP,
        StepKind.GATE,
        StepKind.COLD,
        StepKind.SETTLE,
        StepKind.CACHED,
        StepKind.CACHED,
        StepKind.STOP,
    ]


def test_documents_are_cut_once_by_the_first_engine() -> None:
    kinds = [step.kind for step in steps(lab_plan())]
    assert kinds.count(StepKind.CORPUS) == 1
    assert kinds.index(StepKind.CORPUS) < kinds.index(StepKind.WARMUP)
    assert (kinds[0], kinds[-1]) == (StepKind.PREPARE, StepKind.FINISH)


def test_every_step_has_a_name_of_its_own() -> None:
    for plan in (lab_plan(), load_plan(PLANS / "seed.toml")):
        keys = [step.key(1) for step in steps(plan)]
        assert len(set(keys)) == len(keys)


def test_a_block_that_is_started_anew_has_new_steps() -> None:
    step = Step(StepKind.COLD, Block("valkey", (S, F)), S)
    assert step.key(1) == "valkey-single-fleet.1/cold/single"
    assert step.key(2) == "valkey-single-fleet.2/cold/single"


def test_only_a_fleet_needs_the_second_node() -> None:
    plan = lab_plan()
    assert block_nodes(plan, Block("dram", (S,))) == ("gpu-a",)
    assert block_nodes(plan, Block("dram", (F,))) == ("gpu-a", "gpu-b")
    assert (serving_node(plan, S), serving_node(plan, F)) == ("gpu-a", "gpu-b")


@pytest.mark.parametrize(
    ("tier", "topologies"),
    [("none", ()), ("dram", (S,)), ("dram-small", (S,)), ("disk", (S,)), ("valkey", (S, F))],
)
def test_the_gate_asks_only_where_two_documents_can_come_back(
    tier: str, topologies: tuple[Topology, ...]
) -> None:
    assert gated(lab_plan(), Block(tier, (S, F)), KvShape(4, 4, 64, 4)) == topologies


def test_engines_that_may_differ_need_not_find_each_others_documents() -> None:
    plan = lab_plan()
    plan = plan.model_copy(update={"hash": plan.hash.model_copy(update={"accept_differing": True})})
    assert gated(plan, Block("valkey", (S, F)), KvShape(4, 4, 64, 4)) == (S,)


def test_the_time_left_follows_what_was_seen_by_kind() -> None:
    plan = lab_plan()
    remaining = [Step(StepKind.COLD, Block("dram", (S,)), S), Step(StepKind.CACHED, Block("dram", (S,)), S)]
    seen = {StepKind.COLD: [10.0, 12.0, 14.0], StepKind.CACHED: [1.0]}
    assert left_s(plan, remaining, seen) == 13.0
    assert left_s(plan, remaining, {}) > 0
    assert left_s(plan, [], seen) == 0


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "5 s"), (42, "40 s"), (61, "1 min"), (600, "10 min"), (7200, "2.0 h")]
)
def test_a_duration_is_said_no_finer_than_it_is_known(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def _repeated(repeats: int) -> Plan:
    return changed(lab_plan(), passes={"repeats": repeats})


def test_repeats_go_through_the_tiers_there_and_back() -> None:
    names = [tier.name for tier in lab_plan().tiers]
    found = blocks(_repeated(2))
    assert [block.tier for block in found] == [*names, *reversed(names)]
    assert [block.repeat for block in found] == [1] * len(names) + [2] * len(names)
    assert found[: len(names)] == blocks(lab_plan())
    assert found[-1].name == f"{names[0]}-single-fleet-r2"
    assert Step(StepKind.COLD, found[-1], S).words() == f"{names[0]} · repeat 2 · single · cold pass"


@given(st.integers(1, 50))
def test_every_block_and_step_of_every_repeat_has_a_name_of_its_own(repeats: int) -> None:
    for plan in (_repeated(repeats), changed(load_plan(PLANS / "seed.toml"), passes={"repeats": repeats})):
        names = [block.name for block in blocks(plan)]
        assert len(set(names)) == len(names) == repeats * len(blocks(changed(plan, passes={"repeats": 1})))
        keys = [step.key(1) for step in steps(plan)]
        assert len(set(keys)) == len(keys)
        assert sum(step.kind is StepKind.CORPUS for step in steps(plan)) == 1
        endings = [key_ending(tag("run", name, 1)) for name in names]
        assert not any(one != other and one.endswith(other) for one in endings for other in endings)
