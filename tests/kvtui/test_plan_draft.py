"""The draft of a plan: there and back, faults by field, and nothing that raises."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kvtui.plan import Node, Order, Plan, TierKind
from kvtui.plan_draft import OFF, ON, TIER_FIELDS, Checked, Draft, check, draft_of, hidden_fields
from tests.kvtui.knowing import changed, seed_plan, with_capacity
from tests.kvtui.plans import lab_plan
from tests.kvtui.some_plans import PLANS

SLOW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
DRAFT = draft_of(seed_plan())
FIELDS = sorted(DRAFT.values)
TYPED = st.one_of(
    st.text(max_size=8),
    st.sampled_from(["", "0", "-1", "1e9", "9" * 30, "nan", "inf", "[x]", "\ud800", "\x1b[2J", "'", "٣", ON]),
)


@SLOW
@given(PLANS)
def test_a_plan_becomes_a_draft_and_the_same_plan_again(plan: Plan) -> None:
    assert check(draft_of(plan)) == Checked(plan, {})


@SLOW
@given(st.lists(st.tuples(st.sampled_from(FIELDS), TYPED), max_size=4))
def test_nothing_that_is_typed_raises(typed: list[tuple[str, str]]) -> None:
    draft = DRAFT
    for name, text in typed:
        draft = draft.put(name, text)
    checked = check(draft)
    assert (checked.plan is None) == bool(checked.faults)
    assert all(checked.faults.values())
    assert hidden_fields(draft) <= draft.values.keys()


@SLOW
@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(TIER_FIELDS), TYPED), max_size=4),
    st.lists(st.sampled_from(list(TierKind)), max_size=2),
)
def test_nothing_that_is_typed_into_tiers_raises(
    typed: list[tuple[int, str, str]], kinds: list[TierKind]
) -> None:
    draft = DRAFT
    for key, kind in enumerate(kinds):
        draft = draft.put_tier(key, "kind", kind)
    for key, name, text in typed:
        if name not in ("kind", "policy"):
            draft = draft.put_tier(key, name, text)
    checked = check(draft)
    assert (checked.plan is None) == bool(checked.faults)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("corpus.documents", "x", "a whole number"),
        ("corpus.documents", "0", "1 or more"),
        ("corpus.documents", "100001", "100,000 at most"),
        ("corpus.documents", "", "a whole number"),
        ("corpus.documents", "9" * 40, "a whole number"),
        ("corpus.tokens", "99999", "do not fit max_model_len"),
        ("corpus.seed", "-1", "a whole number"),
        ("model.path", "", "needed"),
        ("model.served_name", "", "needed"),
        ("model.kv_bytes_per_token", "much", "a whole number"),
        ("model.kv_bytes_per_token", "0", "more than 0"),
        ("passes.cold_node", "zz", "there is no such node"),
        ("passes.cold_node", "Z z", "small letters"),
        ("passes.cached_node", "gpu-a", "two nodes"),
        ("passes.shuffle_seed", "x", "a whole number"),
        ("passes.repeats", "0", "1 or more"),
        ("passes.repeats", "51", "50 at most"),
        ("ssh.cold", "", "needed"),
        ("store.node", "", "a valkey tier needs"),
        ("store.port", "70000", "65,535 at most"),
        ("hash.seed", "abc", "PYTHONHASHSEED"),
        ("hash.seed", "-1", "PYTHONHASHSEED"),
        ("hash.seed", "4294967296", "PYTHONHASHSEED"),
        ("hash.chunk_tokens", "8", "16 or more"),
        ("engine.max_model_len", "255", "256 or more"),
        ("engine.output_tokens", "0", "1 or more"),
        ("engine.extra_args", "'a", "a quote is not closed"),
        ("engine.request_timeout_s", "0", "more than 0"),
        ("engine.request_timeout_s", "soon", "a number"),
    ],
)
def test_a_fault_stands_at_its_field(name: str, text: str, words: str) -> None:
    checked = check(DRAFT.put(name, text))
    assert checked.plan is None
    assert list(checked.faults) == [name]
    assert words in checked.faults[name]


@pytest.mark.parametrize(
    ("key", "name", "text", "words"),
    [
        (0, "name", "A b", "small letters"),
        (0, "name", "", "small letters"),
        (0, "name", "a" * 41, "40 characters"),
        (0, "capacity_gib", "", "how many GiB"),
        (0, "capacity_gib", "x", "a number"),
        (0, "capacity_gib", "-1", "a number"),
        (0, "capacity_gib", "0", "more than 0"),
        (0, "capacity_gib", "9999999", "at most"),
        (1, "path", "", "a folder on each node"),
        (2, "workers", "0", "1 or more"),
        (2, "workers", "x", "a whole number"),
    ],
)
def test_a_fault_of_a_tier_stands_at_its_field(key: int, name: str, text: str, words: str) -> None:
    checked = check(DRAFT.put_tier(key, name, text))
    assert list(checked.faults) == [f"tiers.{key}.{name}"]
    assert words in checked.faults[f"tiers.{key}.{name}"]


def test_two_tiers_of_one_name_are_both_marked() -> None:
    assert list(check(DRAFT.put_tier(1, "name", "dram")).faults) == ["tiers.0.name", "tiers.1.name"]


@pytest.mark.parametrize("seed", ["random", "", "0", "4294967295", "unset"])
def test_seeds_that_python_takes_are_taken(seed: str) -> None:
    plan = check(DRAFT.put("hash.seed", seed)).plan
    assert plan is not None
    assert plan.hash.seed == (None if seed == "unset" else seed)


def test_separators_of_thousands_are_taken() -> None:
    plan = check(DRAFT.put("corpus.tokens", "12,000").put("corpus.seed", " 7 ")).plan
    assert plan is not None
    assert (plan.corpus.tokens, plan.corpus.seed) == (12_000, 7)


def test_a_tier_that_is_off_stays_in_the_draft_and_not_in_the_plan() -> None:
    draft = DRAFT.put_tier(0, ON, OFF)
    plan = check(draft).plan
    assert plan is not None
    assert [tier.name for tier in plan.tiers] == ["disk", "valkey"]
    back = draft.with_plan(with_capacity(plan, "disk", 77))
    assert [(tier.on, tier.values["name"]) for tier in back.tiers] == [
        (False, "dram"),
        (True, "disk"),
        (True, "valkey"),
    ]
    assert back.tiers[1].values["capacity_gib"] == "77"
    assert check(back.put_tier(0, ON, ON)).plan == with_capacity(seed_plan(), "disk", 77)


def test_without_a_tier_and_without_a_pass_there_is_no_plan() -> None:
    draft = DRAFT
    for key in range(3):
        draft = draft.put_tier(key, ON, OFF)
    draft = draft.put("passes.single", OFF).put("passes.fleet", OFF)
    assert {"tiers", "passes.single"} <= check(draft).faults.keys()


def test_tiers_are_added_under_free_names_and_removed() -> None:
    draft = DRAFT.add_tier().add_tier()
    plan = check(draft).plan
    assert plan is not None
    assert [tier.name for tier in plan.tiers][3:] == ["tier-1", "tier-2"]
    assert check(draft.remove_tier(3).remove_tier(4)).plan == seed_plan()


def test_another_kind_keeps_the_texts_of_the_one_before() -> None:
    draft = DRAFT.put_tier(1, "kind", "none")
    plan = check(draft).plan
    assert plan is not None
    assert plan.tiers[1].capacity_gib is None
    assert check(draft.put_tier(1, "kind", "disk")).plan == seed_plan()


def test_a_known_node_brings_its_way_along() -> None:
    known = {"gpu-z": Node(ssh="me@z", engine_python="/z/python", hourly_price=3.0)}
    plan = check(draft_of(seed_plan(), known).put("passes.cold_node", "gpu-z")).plan
    assert plan is not None
    assert plan.nodes["gpu-z"] == known["gpu-z"]


def test_a_node_of_which_only_the_way_is_typed_joins_the_plan() -> None:
    plan = check(DRAFT.put("passes.cached_node", "new").put("ssh.cached", "me@new")).plan
    assert plan is not None
    assert plan.nodes["new"].ssh == "me@new"


def test_a_seed_of_its_own_is_given_and_taken_back() -> None:
    draft = DRAFT.put("seed.cached.on", ON).put("seed.cached", "7")
    plan = check(draft).plan
    assert plan is not None
    assert plan.hash.seed_on == {"gpu-b": "7"}
    assert check(draft.put("seed.cached.on", OFF)).plan == seed_plan()
    assert check(draft.put("seed.cached", "x")).faults.keys() == {"seed.cached"}


def _hidden(draft: Draft) -> frozenset[str]:
    return hidden_fields(draft)


def test_what_says_nothing_is_hidden() -> None:
    listed = DRAFT.put("passes.cold_order", "listed")
    assert "passes.shuffle_seed" in _hidden(listed)
    assert "passes.shuffle_seed" not in _hidden(DRAFT)
    assert "passes.shuffle_seed" not in _hidden(listed.put("passes.order", Order.SHUFFLED))
    assert {"passes.cached_node", "ssh.cached", "seed.cached.on"} <= _hidden(DRAFT.put("passes.fleet", OFF))
    assert "store.node" in _hidden(DRAFT.put_tier(2, ON, OFF))
    assert "passes.cold_node" in _hidden(draft_of(lab_plan()))
    assert not {"passes.cold_node", "ssh.cold", "store.address"} & _hidden(DRAFT)


def test_a_lab_plan_goes_to_nodes_of_ones_own() -> None:
    known = {name: Node(ssh=f"me@{name}") for name in ("gpu-a", "gpu-b")}
    draft = draft_of(changed(lab_plan()), known).put("lab", OFF)
    for tier in draft.tiers:
        if tier.kind == TierKind.VALKEY:
            draft = draft.put_tier(tier.key, ON, OFF)
    for role in ("cold", "cached"):
        draft = draft.put(f"passes.{role}_node", draft.values[f"passes.{role}_node"])
    plan = check(draft).plan
    assert plan is not None
    assert set(plan.nodes) == set(known)
