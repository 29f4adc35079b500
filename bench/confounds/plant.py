"""What a planted confound is: a small campaign, what is wrong with it, and what kvtui must say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bench.confounds.scene import Scene
from kvtui.plan import Corpus, Engine, Hash, Model, Passes, Plan, Tier, TierKind, Topology
from remote.lab import model

KV_BYTES_PER_TOKEN = 8192
CHUNK_TOKENS = 256
CHUNK_BYTES = CHUNK_TOKENS * KV_BYTES_PER_TOKEN
DOCUMENTS = 6
# 4 chunks and a tail of 16.
TOKENS = 1040
DOCUMENT_CHUNKS = TOKENS // CHUNK_TOKENS

Act = Callable[[Scene], None]


@dataclass(frozen=True, slots=True)
class Plant:
    """One confound.

    Attributes:
        name: Its name.
        confound: What is wrong, in a few words.
        how: How it is planted.
        demands: Codes of findings, each of which must be there above info.
        plan: The campaign.
        fault: A fault of kvtui's own that it is run with (``faulty``), or empty.
        engine_faults: Lines of shell by node, run before its engine and with its arguments.
        act: What is done to the lab while the campaign runs.
    """

    name: str
    confound: str
    how: str
    demands: tuple[str, ...]
    plan: Plan
    fault: str = ""
    engine_faults: Mapping[str, str] = field(default_factory=dict)
    act: Act | None = None


def campaign(
    kind: TierKind = TierKind.VALKEY,
    topology: Topology = Topology.SINGLE,
    *,
    hashing: Hash | None = None,
    capacity_gib: float = 0.5,
    path: str = "~/kv",
    documents: int = DOCUMENTS,
    output_tokens: int = 8,
) -> Plan:
    """A campaign of one tier in one topology, as small as is meaningful."""
    tier = Tier(
        name=str(kind),
        kind=kind,
        capacity_gib=capacity_gib,
        path=path if kind is TierKind.DISK else None,
    )
    return Plan(
        name=f"{kind}-{topology}",
        lab=True,
        model=Model(
            path=model.SERVED_NAME, served_name=model.SERVED_NAME, kv_bytes_per_token=KV_BYTES_PER_TOKEN
        ),
        corpus=Corpus(documents=documents, tokens=TOKENS),
        engine=Engine(output_tokens=output_tokens),
        hash=hashing or Hash(),
        passes=Passes(topologies=(topology,)),
        tiers=(tier,),
    )


def clean_campaigns() -> tuple[Plan, ...]:
    """What the plants are planted in, with nothing planted."""
    return (
        campaign(TierKind.VALKEY),
        campaign(TierKind.DISK),
        campaign(TierKind.DRAM),
        campaign(TierKind.VALKEY, Topology.FLEET),
    )
