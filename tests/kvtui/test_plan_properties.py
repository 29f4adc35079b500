"""What holds for every plan, and for everything that a person may type."""

from __future__ import annotations

import json
from contextlib import suppress

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kvtui.check import Known, assess, compare, fix
from kvtui.errors import PlanError
from kvtui.findings import Level
from kvtui.plan import Plan, TierKind, parse_plan
from kvtui.plan_edit import set_fields
from kvtui.plan_toml import to_toml
from kvtui.recordings import PLANS as SHIPPED
from tests.kvtui.knowing import GIB, QWEN, facts, mount, seed_plan, store
from tests.kvtui.some_plans import PLANS, SEEDS, TEXT

SLOW = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
KNOWING = Known(
    facts={
        node: facts(
            node, hostname="h", ram_gib=64, free_gib=32, mounts=(mount("/"), mount("/mnt", "network"))
        )
        for node in ("gpu-a", "x9")
    },
    homes={"gpu-a": "/root"},
    shape=QWEN,
    store=store(maxmemory_bytes=GIB, used_memory_bytes=0, policy="allkeys-lru", proto_max_bulk_bytes=2**20),
)


@SLOW
@given(PLANS, st.sampled_from([Known(), KNOWING]))
def test_every_plan_is_assessed_and_is_launchable_or_says_why_not(plan: Plan, known: Known) -> None:
    found = assess(plan, known)
    assert found.blocked == any(one.level is Level.BLOCKING for one in found.findings)
    levels = [list(Level).index(one.level) for one in found.findings]
    assert levels == sorted(levels)
    assert len(set(found.findings)) == len(found.findings)
    assert all(one.code and one.text.endswith(".") for one in found.findings)
    assert found.recommendation.sentence
    assert found == assess(plan, known)
    json.dumps(found.to_json(), allow_nan=False)
    if found.kv and not found.blocked:
        assert {fit.tier for fit in found.fits} == {tier.name for tier in plan.tiers}


@SLOW
@given(PLANS, st.sampled_from([Known(), KNOWING]))
def test_a_fix_gives_a_plan_without_that_finding(plan: Plan, known: Known) -> None:
    for finding in assess(plan, known).findings:
        mended = fix(plan, known, finding)
        if mended is not None:
            assert mended.plan != plan
            assert mended.words.endswith(".")
            left = [(one.code, one.where) for one in assess(mended.plan, known).findings]
            assert (finding.code, finding.where) not in left


@SLOW
@given(PLANS, st.booleans())
def test_a_plan_that_is_written_reads_back_equal(plan: Plan, commented: bool) -> None:
    assert parse_plan(to_toml(plan, commented=commented), "x") == plan


@settings(SLOW, max_examples=15)
@given(PLANS, PLANS)
def test_two_plans_differ_in_the_fields_that_are_named(a: Plan, b: Plan) -> None:
    assert (compare(a, b, Known()) == ()) == (a == b)
    assert compare(a, a, Known()) == ()


FIELDS = st.sampled_from(
    [
        "name",
        "lab",
        "notes",
        *(
            f"{part}.{name}"
            for part, name in (
                ("model", "path"),
                ("model", "kv_bytes_per_token"),
                ("corpus", "documents"),
                ("corpus", "tokens"),
                ("corpus", "source"),
                ("engine", "max_model_len"),
                ("engine", "extra_args"),
                ("hash", "algorithm"),
                ("engine", "lease_min"),
                ("hash", "seed"),
                ("hash", "seed_on.gpu-b"),
                ("hash", "chunk_tokens"),
                ("hash", "accept_differing"),
                ("store", "port"),
                ("passes", "topologies"),
                ("passes", "order"),
                ("passes", "shuffle_seed"),
                ("passes", "cold_order"),
                ("passes", "repeats"),
                ("nodes", "gpu-a.ssh"),
                ("nodes", "gpu-a.hourly_price"),
                ("nodes", "new.ssh"),
                ("tiers", "dram.capacity_gib"),
                ("tiers", "dram.policy"),
                ("tiers", "dram"),
                ("tiers", "disk.path"),
                ("tiers", "valkey.workers"),
                ("tiers", "dram.kind"),
            )
        ),
    ]
)
TYPED = st.one_of(
    TEXT,
    SEEDS,
    st.text(max_size=40),
    st.integers().map(str),
    st.floats().map(str),
    st.sampled_from(
        ["", "true", "[]", '["single"]', "{}", "9" * 6000, "[" * 5000, "1e400", "-0", "2026-01-01", "="]
    ),
)


@SLOW
@given(st.one_of(FIELDS, st.text(max_size=20)), TYPED)
def test_nothing_that_is_typed_into_a_field_raises_anything_else(field: str, typed: str) -> None:
    with suppress(PlanError):
        plan = set_fields(seed_plan(), (f"{field}={typed}",))
        assess(plan, KNOWING)
        assert parse_plan(to_toml(plan), "x") == plan


def test_the_plans_that_come_with_kvtui_read_back_equal() -> None:
    for path in SHIPPED.glob("*.toml"):
        plan = parse_plan(path.read_text(encoding="utf-8"), str(path))
        for commented in (False, True):
            assert parse_plan(to_toml(plan, commented=commented), "x") == plan


def test_a_commented_plan_says_what_its_fields_mean() -> None:
    text = to_toml(seed_plan(), commented=True)
    assert "chunk_tokens = 256" in text
    assert "PYTHONHASHSEED of every engine" in text
    assert "``" not in text
    assert all(tier.kind is not TierKind.NONE for tier in seed_plan().tiers)
