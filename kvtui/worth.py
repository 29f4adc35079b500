"""Is a tier worth it? Each against the engine without a cache, and each against each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

from kvtui.attribution import Verdict
from kvtui.plan import Plan, TierKind
from kvtui.stats.compare import Claim, compare
from kvtui.stats.economics import Economics, economics
from kvtui.stats.estimate import Estimate
from kvtui.tier_samples import TierSamples


@dataclass(frozen=True, slots=True)
class TierPair:
    """The cached passes of two tiers, paired by document.

    Attributes:
        topology: Where both ran.
        tier: The one with the smaller median.
        other: The other one.
        ratio: TTFT of the other ÷ that of the first; ``None`` without a common document.
        claim: What may be said of the first.
    """

    topology: str
    tier: str
    other: str
    ratio: Estimate | None
    claim: Claim


def tier_pairs(tiers: Sequence[TierSamples]) -> tuple[TierPair, ...]:
    """Every pair of tiers in each topology, the faster one first; neighbours in speed come first."""
    found = []
    for topology in dict.fromkeys(tier.topology for tier in tiers):
        here = sorted(
            (tier for tier in tiers if tier.topology is topology and tier.cached_ms),
            key=lambda tier: median(tier.cached_ms.values()),
        )
        places = sorted(combinations(range(len(here)), 2), key=lambda pair: (pair[1] - pair[0], pair))
        for first, second in places:
            one, two = here[first], here[second]
            steady = one.cached_steady and two.cached_steady
            made = compare(one.cached_ms, two.cached_ms, steady=steady)
            found.append(TierPair(topology.value, one.tier, two.tier, made.ratio, made.claim))
    return tuple(found)


def tier_economics(
    plan: Plan, tiers: Sequence[TierSamples], hit_rates: Sequence[float]
) -> tuple[Economics, ...]:
    """Price and gain of every tier with a cache, where the plan has one without."""
    return tuple(_economics(plan, tiers, hit_rates))


def _economics(plan: Plan, tiers: Sequence[TierSamples], hit_rates: Sequence[float]) -> Iterator[Economics]:
    kinds = {tier.name: tier.kind for tier in plan.tiers}
    for tier in tiers:
        bare = next(
            (one for one in tiers if kinds[one.tier] is TierKind.NONE and one.topology is tier.topology), None
        )
        if bare is None or kinds[tier.tier] is TierKind.NONE:
            continue
        node = plan.nodes.get(plan.passes.serving_node(tier.topology))
        # A hit is held against the same node's computing, in the same place of the run.
        serving = bare.cached_ms or bare.cold_ms
        yield economics(
            tier.tier,
            tier.topology.value,
            bare.cold_ms,
            tier.cold_ms,
            tier.cached_ms_of(Verdict.FULL),
            tier.cached_ms_of(Verdict.NONE),
            serving_ms=serving,
            steady_fill=bare.cold_steady and tier.cold_steady,
            steady_cached=bare.cached_steady and tier.cached_steady,
            hit_rates=hit_rates,
            hourly_price=node.hourly_price if node else None,
        )
