"""What is said of a plan before it is launched, in figures; everything unknown is ``None``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from kvtui.ceilings import Ceiling
from kvtui.findings import Finding, Level
from kvtui.fit import Reuse
from kvtui.plan import TierKind, Topology


@dataclass(frozen=True, slots=True)
class KvFigures:
    """How large the KV of the plan's documents is, over all ranks.

    Attributes:
        token_bytes: KV of one token.
        chunk_bytes: KV of one chunk.
        document_chunks: Whole chunks a document; LMCache stores no others.
        document_bytes: KV that LMCache stores of a document.
        working_set_bytes: KV of all documents.
        ranks: Ranks over which the engine splits the model.
        source: Where the size of a token was taken from, in words.
    """

    token_bytes: int
    chunk_bytes: int
    document_chunks: int
    document_bytes: int
    working_set_bytes: int
    ranks: int
    source: str


@dataclass(frozen=True, slots=True)
class TierFit:
    """Whether the documents fit one tier, and what a cached pass will find there.

    Attributes:
        tier: Name of the tier.
        kind: Its kind.
        capacity_bytes: What the plan gives it, over all ranks; ``None`` for an engine without LMCache.
        needed_bytes: What keeps every document, over all ranks.
        reuse: Documents that a cached pass finds whole, by topology of the plan.
        reason: Why, in one sentence.
        smallest_gib: The least ``capacity_gib`` that keeps every document.
        limit_gib: The largest ``capacity_gib`` that the machine can give.
        limit_of: What sets that limit, in words.
    """

    tier: str
    kind: TierKind
    capacity_bytes: int | None
    needed_bytes: int | None
    reuse: Mapping[Topology, Reuse]
    reason: str
    smallest_gib: float | None
    limit_gib: float | None
    limit_of: str


class Agreement(StrEnum):
    """Whether the nodes have the same value of an ingredient."""

    EQUAL = "equal"
    DIFFERS = "differs"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Ingredient:
    """One thing that goes into every key, or that decides how keys are made.

    Attributes:
        name: What it is.
        values: Its value by node; ``None`` where nobody knows it.
        agreement: Whether they are equal.
        fixes_keys: Whether engines that differ in it surely make different keys.
        note: What is wrong with the value itself, or empty.
    """

    name: str
    values: Mapping[str, str | None]
    agreement: Agreement
    fixes_keys: bool
    note: str = ""


class Sharing(StrEnum):
    """Whether the nodes will find each other's KV."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SharingTable:
    """The ingredients of the keys side by side.

    Attributes:
        rows: The ingredients.
        verdict: What follows from them; the engines' ``NONE_HASH`` decides in the end.
        text: The verdict in one sentence.
    """

    rows: tuple[Ingredient, ...]
    verdict: Sharing
    text: str


@dataclass(frozen=True, slots=True)
class TierForecast:
    """What a cached request of a tier may take.

    Attributes:
        tier: Name of the tier.
        topology: Where its cached pass runs.
        floor_ms: A document's bytes by the best that was measured; no request can be faster.
        ceiling: What was measured.
        prefill_ms: Prefill of a document without LMCache, as an earlier run measured it.
        speedup: Cold by cached TTFT of that run.
        break_even_hits: Hits of a document that pay for storing it; ``None`` when unknown or never.
        slower: Whether a hit is slower than prefill, by floor or measurement; ``None`` when unknown.
        text: The forecast in one sentence.
    """

    tier: str
    topology: Topology
    floor_ms: float | None
    ceiling: Ceiling | None
    prefill_ms: float | None
    speedup: float | None
    break_even_hits: float | None
    slower: bool | None
    text: str


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the whole run will take.

    Attributes:
        tiers: Tier by tier.
        duration_s: How long it takes; ``None`` when no earlier run says.
        duration_basis: Where that comes from, or why it is unknown.
        cost: Hours by hourly prices, in their currency.
        cost_basis: How it was reckoned, or why it is unknown.
    """

    tiers: tuple[TierForecast, ...]
    duration_s: float | None
    duration_basis: str
    cost: float | None
    cost_basis: str


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Which tier this working set wants on these nodes.

    Attributes:
        tier: Name of the tier, or empty when nothing can be said.
        capacity_gib: The capacity to give it.
        sentence: The recommendation.
        arithmetic: How it was reckoned, line by line.
    """

    tier: str
    capacity_gib: float | None
    sentence: str
    arithmetic: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Assessment:
    """Everything that is known of a plan before its launch.

    Attributes:
        kv: Sizes; ``None`` while nobody knows how large the model's KV is.
        fits: Tier by tier, in the plan's order.
        sharing: For a plan with a fleet and a tier that nodes share; else ``None``.
        forecast: What the run will take.
        recommendation: Which tier, which capacity.
        findings: What is to be said, the blocking ones first.
    """

    kv: KvFigures | None
    fits: tuple[TierFit, ...]
    sharing: SharingTable | None
    forecast: Forecast
    recommendation: Recommendation
    findings: tuple[Finding, ...]

    @property
    def blocked(self) -> bool:
        """Whether a finding stops the launch."""
        return any(finding.level is Level.BLOCKING for finding in self.findings)

    def fit(self, tier: str) -> TierFit:
        """The fit of the tier of that name.

        Raises:
            KeyError: No tier has that name.
        """
        for one in self.fits:
            if one.tier == tier:
                return one
        raise KeyError(tier)

    def to_json(self) -> dict[str, Any]:
        """The assessment as a JSON object of schema 1."""
        return {"v": 1, "blocked": self.blocked, **asdict(self)}
