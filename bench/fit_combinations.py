"""The combinations that the fit model is tested with, as plans of the lab, and what it predicts of each."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from kvtui.fit import Reuse, least_gib, plan_reuse
from kvtui.fit.capacity import block_bytes
from kvtui.kvsize import KvShape, kv_shape
from kvtui.lab_plan import LAB_DISK_PATH, LabEngine, for_lab
from kvtui.plan import Corpus, Hash, Model, Order, Passes, Plan, Policy, Tier, TierKind, Topology
from remote.lab import model
from remote.lab.engine import ARGUMENTS, DTYPE

COMBINATIONS = Path(__file__).with_name("fit_validation.toml")
SHUFFLE_SEED = 1


@dataclass(frozen=True, slots=True)
class Combination:
    """A tier of some capacity, and what is asked of it.

    Attributes:
        run: Name of the run that measures it.
        documents: Documents of a pass.
        tokens: Length of each.
        order: Order of the cached pass.
        kind: Kind of the tier.
        chunks: Its capacity, in chunks.
        policy: LMCache's policy; of DRAM and disk.
        store_policy: The server's policy when it is full; of Valkey.
    """

    run: str
    documents: int
    tokens: int
    order: Order
    kind: TierKind
    chunks: int
    policy: Policy = Policy.LRU
    store_policy: str = ""

    @property
    def tier_name(self) -> str:
        """Name of its tier in the plan of its run."""
        return f"{self.kind}-{self.store_policy or self.policy.lower()}-{self.chunks}"

    @property
    def working_chunks(self) -> int:
        """Chunks of all documents."""
        return self.documents * (self.tokens // Hash().chunk_tokens)


def lab_shape() -> KvShape:
    """KV shape of the lab's model."""
    return kv_shape(model.configuration(), "the lab's model", DTYPE)


def combinations(path: Path = COMBINATIONS) -> tuple[Combination, ...]:
    """All combinations, run by run."""
    found = []
    for run in tomllib.loads(path.read_text(encoding="utf-8"))["runs"]:
        for tier in run["tiers"]:
            found.append(
                Combination(
                    run=run["name"],
                    documents=run["documents"],
                    tokens=run["tokens"],
                    order=Order(run["order"]),
                    kind=TierKind(tier["kind"]),
                    chunks=tier["chunks"],
                    policy=Policy(tier.get("policy", Policy.LRU)),
                    store_policy=run.get("store_policy", ""),
                )
            )
    return tuple(found)


def _tier(combination: Combination) -> Tier:
    size_bytes = combination.chunks * block_bytes(lab_shape().chunk_bytes(Hash().chunk_tokens))
    return Tier(
        name=combination.tier_name,
        kind=combination.kind,
        capacity_gib=least_gib(size_bytes),
        path=LAB_DISK_PATH if combination.kind is TierKind.DISK else None,
        policy=combination.policy,
    )


def plan_of(run: tuple[Combination, ...]) -> Plan:
    """The plan that measures combinations of one run, a tier each."""
    first = run[0]
    return Plan(
        name=f"fit-{first.run}",
        lab=True,
        model=Model(path=model.SERVED_NAME, served_name=model.SERVED_NAME),
        corpus=Corpus(documents=first.documents, tokens=first.tokens),
        passes=Passes(topologies=(Topology.SINGLE,), order=first.order, shuffle_seed=SHUFFLE_SEED),
        tiers=tuple(_tier(combination) for combination in run),
    )


def predicted(combination: Combination) -> Reuse:
    """What the fit model says of a combination, with the arguments of the lab's engines."""
    shape = lab_shape()
    lab = LabEngine(model.SERVED_NAME, shape.bytes_per_token, DTYPE, ARGUMENTS)
    plan = for_lab(plan_of((combination,)), lab)
    store_policy = combination.store_policy or "noeviction"
    return plan_reuse(plan, plan.tiers[0], Topology.SINGLE, shape, store_policy)
