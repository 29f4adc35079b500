"""Plans for tests of the screen: three nodes, the plans that come with kvtui, and what was saved."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from kvtui.campaign.steps import StepKind
from kvtui.check import Known, shape_of
from kvtui.errors import PlanError
from kvtui.hosts_file import NodeEntry, Role
from kvtui.nodefacts import ModelFolder, NodeFacts
from kvtui.plan import NAME, Plan, load_plan, validated
from kvtui.plan_commands import script
from kvtui.plan_toml import to_toml
from kvtui.recordings import PLANS
from tests.kvtui.knowing import H200_DISK, ceiling, facts, h200, mount

VERSIONS = {"vllm": "0.28.0", "lmcache": "0.5.4", "python": "3.12.7"}
MODELS = (ModelFolder("/models/q4", "Qwen/Qwen3-4B", 147_456), ModelFolder("/models/x", "x", None, "?"))


def node_facts(name: str) -> NodeFacts:
    """A node with RAM for 80 GiB, an NVMe disk and two models."""
    found = facts(
        name, hostname=name, ram_gib=128, free_gib=96, mounts=(mount("/mnt/nvme"),), versions=VERSIONS
    )
    return replace(found, models=MODELS)


class FakePlans:
    """Plans in memory.

    Attributes:
        saved: The saved plans by name.
        exported: What was exported.
        entries: The nodes that a person entered.
        knowledge: What is known of nodes that the plan names.
        asked: Plans for which it was asked what is known.
        broken: What every file says that is read, or empty.
    """

    def __init__(self) -> None:
        self.saved: dict[str, Plan] = {}
        self.exported: list[Plan] = []
        self.entries = tuple(
            NodeEntry(name=name, ssh=f"ubuntu@{name}", roles=(Role.GPU,), hourly_price=2.0)
            for name in ("gpu-a", "gpu-b", "gpu-c")
        )
        self.knowledge = Known(
            facts={name: node_facts(name) for name in ("gpu-a", "gpu-b")},
            ceilings=(H200_DISK, ceiling("gpu-b", "network", 1.17e9, "valkey:6379", "glide, 8 workers")),
            measured=replace(h200(), step_s={kind.name: (60.0,) for kind in StepKind}),
            prices={"gpu-a": 2.0, "gpu-b": 2.0, "valkey": 0.5},
        )
        self.asked: list[Plan] = []
        self.broken = ""

    def plan(self, name: str) -> Plan:
        """One of kvtui's own plans."""
        return self.shipped()[name]

    def names(self) -> tuple[str, ...]:
        """What was saved."""
        return tuple(sorted(self.saved))

    def load(self, name: str) -> Plan:
        """A saved plan."""
        if self.broken:
            raise PlanError(self.broken)
        return self.saved[name]

    def save(self, name: str, plan: Plan) -> Plan:
        """Keep it."""
        if not re.fullmatch(NAME, name):
            raise PlanError(f"{name!r} is no name for a plan.")
        kept = validated(plan.model_copy(update={"name": name}))
        self.saved[name] = kept
        return kept

    def shipped(self) -> Mapping[str, Plan]:
        """The real ones."""
        return {name: load_plan(PLANS / f"{name}.toml") for name in ("lab", "seed")}

    def nodes(self) -> tuple[NodeEntry, ...]:
        """Three nodes."""
        if self.broken:
            raise PlanError(self.broken)
        return self.entries

    async def known(self, plan: Plan) -> Known:
        """Nothing of the lab, much of the others."""
        self.asked.append(plan)
        if self.broken:
            raise PlanError(self.broken)
        return Known() if plan.lab else self.knowledge

    def export(self, plan: Plan) -> str:
        """Remember it."""
        self.exported.append(plan)
        return f"{plan.name}.toml"

    def toml(self, plan: Plan) -> str:
        """As TOML."""
        return to_toml(plan)

    def commands(self, plan: Plan, known: Known) -> str:
        """The real ones."""
        sized = shape_of(plan, known)
        return script(plan, sized[0] if sized else None)
