"""What is known beside the plan when it is assessed; everything may be missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kvtui.ceilings import Ceiling
from kvtui.findings import Finding
from kvtui.journal import Event
from kvtui.kvsize import KvShape
from kvtui.nodefacts import NodeFacts
from kvtui.plan import Plan, TierKind, Topology
from kvtui.results import result_of
from kvtui.storefacts import StoreFacts


@dataclass(frozen=True, slots=True)
class MeasuredTier:
    """Medians of one tier of an earlier run; ``None`` where it has none.

    Attributes:
        tier: Name of the tier there.
        kind: Its kind.
        topology: Where its cached pass ran.
        cold_ms: TTFT of the cold pass, the price of storing included.
        cached_ms: TTFT of the cached pass.
        reused: Documents whose KV was reused whole.
        documents: Documents of that run.
    """

    tier: str
    kind: TierKind
    topology: Topology
    cold_ms: float | None
    cached_ms: float | None
    reused: int
    documents: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What an earlier run measured.

    Attributes:
        run: Its id.
        model: Name of the model that it served.
        documents: Documents of its corpus.
        tokens: Tokens of each request, a prefix included.
        tiers: Its tiers, topology by topology.
        none_ms: TTFT without LMCache; ``None`` when it measured none.
        step_s: What its steps took in seconds, by the name of their kind.
    """

    run: str
    model: str
    documents: int
    tokens: int
    tiers: tuple[MeasuredTier, ...]
    none_ms: float | None = None
    step_s: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def speaks_of(self, plan: Plan) -> bool:
        """Whether its TTFT says anything of this plan: the same model, documents as long."""
        return (self.model, self.tokens) == (plan.model.served_name, plan.corpus.prompt_tokens)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the nodes, the store and the model.

    Attributes:
        facts: What each node is made of, by the plan's name of it.
        homes: Home directory by node, which a leading ``~`` of a path stands for.
        ceilings: What disks and networks were measured to do.
        shape: KV of the model; without it the plan's own ``kv_bytes_per_token`` counts.
        store: The Valkey server.
        measured: An earlier run.
        prices: What an hour of a node costs, where the plan does not say.
        faults: What of this should be known, and could not be read.
    """

    facts: Mapping[str, NodeFacts] = field(default_factory=dict)
    homes: Mapping[str, str] = field(default_factory=dict)
    ceilings: tuple[Ceiling, ...] = ()
    shape: KvShape | None = None
    store: StoreFacts | None = None
    measured: Measured | None = None
    prices: Mapping[str, float] = field(default_factory=dict)
    faults: tuple[Finding, ...] = ()


def measured_of(run: str, plan: Plan, events: Iterable[Event]) -> Measured:
    """What a run measured, from its record."""
    events = tuple(events)
    rows = result_of(run, plan, events).rows
    kinds = {tier.name: tier.kind for tier in plan.tiers}
    tiers = tuple(
        MeasuredTier(
            tier=row.tier,
            kind=kinds[row.tier],
            topology=Topology(row.topology),
            cold_ms=row.cold_ms,
            cached_ms=row.cached_ms,
            reused=row.reused,
            documents=row.documents,
        )
        for row in rows
    )
    step_s: dict[str, tuple[float, ...]] = {}
    for event in events:
        if event["kind"] == "step_done":
            kind = event["step_kind"]
            step_s[kind] = (*step_s.get(kind, ()), float(event["seconds"]))
    bare = [tier.cold_ms for tier in tiers if tier.kind is TierKind.NONE]
    return Measured(
        run=run,
        model=plan.model.served_name,
        documents=plan.corpus.documents,
        tokens=plan.corpus.prompt_tokens,
        tiers=tiers,
        none_ms=bare[0] if bare else None,
        step_s=step_s,
    )
