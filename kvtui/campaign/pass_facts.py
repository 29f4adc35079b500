"""A pass with what the engine and the store counted over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kvtui import ceilings
from kvtui.attribution import Evidence, Verdict
from kvtui.campaign.context import Context
from kvtui.ceilings import Ceiling
from kvtui.journal import Event
from kvtui.live.throughput import floor_ms, path_ceiling
from kvtui.pass_counts import Values, engine_times, grown, store_counts
from kvtui.plan import TierKind
from kvtui.samples import Pass, Sample
from kvtui.served import evidence_of_bytes, moved_from, retrieved_bytes
from kvtui.witnesses import PassFacts


def bytes_per_token(ctx: Context, tier: str) -> int | None:
    """KV bytes a token by what the tier's engines said of themselves; ``None`` until they did."""
    for event in ctx.journal.of_kind("geometry"):
        if event["tier"] == tier:
            return int(event["bytes_per_token"])
    return None


@dataclass(frozen=True, slots=True)
class ByteWay:
    """The way that the KV of a tier takes to a node, the same for all requests of a pass.

    Attributes:
        kind: Kind of the tier.
        chunk_tokens: Tokens of a chunk.
        bytes_per_token: KV bytes a token; ``None`` when not known.
        ceiling: The ceiling of its path; ``None`` when it was not measured.
    """

    kind: TierKind
    chunk_tokens: int
    bytes_per_token: int | None
    ceiling: Ceiling | None

    def evidence(self, event: Event, seen: Evidence, verdict: Verdict) -> dict[str, Any]:
        """What a sample keeps of the bytes of its request.

        Args:
            event: The last event of the request.
            seen: What was seen of it otherwise.
            verdict: How much was reused.
        """
        size = retrieved_bytes(seen, self.chunk_tokens, self.bytes_per_token)
        floor = floor_ms(size, self.ceiling)
        return evidence_of_bytes(self.kind, verdict, moved_from(event.get("moved")), size, floor)


def byte_way(ctx: Context, tier: str, node: str) -> ByteWay:
    """The way of a tier's KV to the node that serves."""
    kind = ctx.plan.tier(tier).kind
    measured = tuple(ceilings.from_json(one) for one in ctx.journal.of_kind("ceiling"))
    size = bytes_per_token(ctx, tier)
    return ByteWay(kind, ctx.plan.hash.chunk_tokens, size, path_ceiling(kind, measured, node))


def pass_facts(
    ctx: Context,
    tier: str,
    where: str,
    samples: Sequence[Sample],
    done: Sequence[Event],
    before: Values,
    after: Values,
) -> PassFacts:
    """What is to be held against each other of a pass.

    Args:
        ctx: The run.
        tier: Name of the tier.
        where: The pass in words.
        samples: Its judged requests.
        done: The last events of those that were answered.
        before: Counters before it.
        after: The same after it.
    """
    measured = all(sample.step in (Pass.COLD, Pass.CACHED) for sample in samples)
    return PassFacts(
        kind=ctx.plan.tier(tier).kind,
        where=where,
        samples=samples,
        chunk_tokens=ctx.plan.hash.chunk_tokens,
        bytes_per_token=bytes_per_token(ctx, tier),
        external_hit_tokens=grown(before, after, "external_hits"),
        times=engine_times(before, after, len(samples)) if measured else None,
        total_ms=sum(event["total_ms"] for event in done) if len(done) == len(samples) else None,
        store=store_counts(before, after),
    )
