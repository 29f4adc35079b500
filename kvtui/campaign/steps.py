"""The steps of a run, from its plan: what is done, in which order, on which nodes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kvtui.fit import gate_passes
from kvtui.kvsize import KvShape
from kvtui.plan import Plan, Tier, TierKind, Topology
from kvtui.tier_order import tier_order
from kvtui.units import with_repeat


class StepKind(StrEnum):
    """What a step does."""

    PREPARE = "prepare"
    EMPTY = "empty the tier"
    ENGINES = "start engines"
    CORPUS = "cut documents"
    WARMUP = "warm up"
    FINGERPRINT = "compare fingerprints"
    GATE = "sanity gate"
    COLD = "cold pass"
    SETTLE = "wait for stores"
    CACHED = "cached pass"
    STOP = "stop engines"
    FINISH = "clean up"


@dataclass(frozen=True, slots=True)
class Block:
    """Passes of one tier that share engines and a cold pass.

    Attributes:
        tier: Name of the tier.
        topologies: What is measured in it.
        repeat: Which repeat of the campaign it belongs to, from 1.
    """

    tier: str
    topologies: tuple[Topology, ...]
    repeat: int = 1

    @property
    def name(self) -> str:
        """Name of the block, unique in a run, and so part of what makes its keys and files its own."""
        return "-".join((self.tier, *self.topologies, *([f"r{self.repeat}"] if self.repeat > 1 else [])))

    @property
    def words(self) -> str:
        """Its tier, and which repeat it is from the second on."""
        return with_repeat(self.tier, self.repeat)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do; done once, however often it is asked for.

    Attributes:
        kind: What it does.
        block: The block that it belongs to, or ``None``.
        topology: Of a cached pass: where it runs; of a cold pass: the first topology of its block.
    """

    kind: StepKind
    block: Block | None = None
    topology: Topology | None = None

    def key(self, attempt: int) -> str:
        """Name of the step in the record; a block that is started anew has new steps."""
        parts = [self.kind.name.lower()]
        if self.block is not None:
            parts.insert(0, f"{self.block.name}.{attempt}")
        if self.topology is not None:
            parts.append(self.topology)
        return "/".join(parts)

    def words(self) -> str:
        """The step in words."""
        where = f"{self.block.words} · " if self.block else ""
        return f"{where}{self.topology + ' · ' if self.topology else ''}{self.kind}"


def blocks(plan: Plan) -> tuple[Block, ...]:
    """The blocks of a plan, repeat by repeat, in each of them tier by tier in a balanced order."""
    shared = plan.passes.fleet_cold == "shared"
    groups = [plan.passes.topologies] if shared else [(topology,) for topology in plan.passes.topologies]
    orders = tier_order(tuple(tier.name for tier in plan.tiers), plan.passes.repeats)
    return tuple(
        Block(tier, group, repeat)
        for repeat, order in enumerate(orders, 1)
        for tier in order
        for group in groups
    )


def block_nodes(plan: Plan, block: Block) -> tuple[str, ...]:
    """Nodes whose engines a block needs, the cold one first."""
    if Topology.FLEET in block.topologies:
        return (plan.passes.cold_node, plan.passes.cached_node)
    return (plan.passes.cold_node,)


def serving_node(plan: Plan, topology: Topology) -> str:
    """The node of a cached pass."""
    return plan.passes.serving_node(topology)


def gated(plan: Plan, block: Block, shape: KvShape) -> tuple[Topology, ...]:
    """The topologies in which two documents must be found again before the passes begin.

    Engines that may differ need not find each other's.
    """
    tier = plan.tier(block.tier)
    proving = [
        topology
        for topology in block.topologies
        if topology is not Topology.FLEET or not plan.hash.accept_differing
    ]
    return tuple(topology for topology in proving if gate_passes(plan, tier, topology, shape))


def _block_steps(block: Block, tier: Tier, first: bool) -> list[Step]:
    cached = tier.kind is not TierKind.NONE
    kinds = [StepKind.EMPTY, StepKind.ENGINES]
    if cached:
        # An engine prints what its keys hang on before it serves: no request is needed to compare them.
        kinds.append(StepKind.FINGERPRINT)
    if first:
        kinds.append(StepKind.CORPUS)
    kinds.append(StepKind.WARMUP)
    if cached:
        kinds.append(StepKind.GATE)
    steps = [Step(kind, block) for kind in kinds]
    steps.append(Step(StepKind.COLD, block, block.topologies[0]))
    if cached:
        steps.append(Step(StepKind.SETTLE, block))
    steps += [Step(StepKind.CACHED, block, topology) for topology in block.topologies]
    steps.append(Step(StepKind.STOP, block))
    return steps


def steps(plan: Plan) -> tuple[Step, ...]:
    """All steps of a run, in order."""
    found = [Step(StepKind.PREPARE)]
    for number, block in enumerate(blocks(plan)):
        found += _block_steps(block, plan.tier(block.tier), first=number == 0)
    found.append(Step(StepKind.FINISH))
    return tuple(found)
