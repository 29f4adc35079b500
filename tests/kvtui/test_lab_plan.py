"""A plan for other machines, scaled to the lab."""

from __future__ import annotations

import pytest

from kvtui.errors import PlanError
from kvtui.lab_plan import LabEngine, for_lab
from kvtui.plan import Plan, load_plan
from kvtui.recordings import PLANS
from tests.kvtui.plans import lab_plan

LAB = LabEngine("tiny", 8192, "float32", ("--enforce-eager",))


def test_the_seed_plan_keeps_its_proportions() -> None:
    seed = load_plan(PLANS / "seed.toml")
    scaled = for_lab(seed, LAB)
    assert scaled.lab
    assert scaled.corpus == seed.corpus
    assert scaled.passes == seed.passes
    assert scaled.hash == seed.hash
    assert [tier.capacity_gib for tier in scaled.tiers] == [1.1429, 14.2857, 6.8571]
    assert (scaled.model.path, scaled.engine.dtype, scaled.engine.extra_args) == (
        "tiny",
        "float32",
        ("--enforce-eager",),
    )
    assert len(scaled.notes) == 1
    assert "scaled by 0.1429" in scaled.notes[0]
    assert Plan.model_validate_json(scaled.model_dump_json()) == scaled


def test_a_plan_for_the_lab_only_gets_what_its_engines_need() -> None:
    plan = lab_plan()
    own = for_lab(plan, LAB)
    assert own.engine.extra_args == ("--enforce-eager",)
    assert own.model_copy(update={"engine": plan.engine}) == plan


def test_a_plan_that_does_not_know_its_kv_cannot_be_scaled() -> None:
    seed = load_plan(PLANS / "seed.toml")
    blind = seed.model_copy(update={"model": seed.model.model_copy(update={"kv_bytes_per_token": None})})
    with pytest.raises(PlanError, match="kv_bytes_per_token"):
        for_lab(blind, LAB)
