"""The samples of one tier in one topology: a cold pass, and the cached pass that followed it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from kvtui.attribution import Verdict
from kvtui.plan import Plan, Topology
from kvtui.samples import Pass, Sample
from kvtui.stats.trend import Drift, drift


def ttft_of(samples: Iterable[Sample]) -> dict[str, float]:
    """TTFT by document of the requests that succeeded, in their order."""
    return {sample.document: sample.ttft_ms for sample in samples if sample.ttft_ms is not None}


@dataclass(frozen=True)
class TierSamples:
    """A tier in a topology.

    Attributes:
        tier: Name of the tier.
        topology: Where the cached pass ran.
        cold: Samples of the cold pass, in the order of their places.
        cached: Samples of the cached pass, likewise.
    """

    tier: str
    topology: Topology
    cold: tuple[Sample, ...]
    cached: tuple[Sample, ...]

    @cached_property
    def cold_ms(self) -> dict[str, float]:
        """TTFT of the cold requests that reused nothing beyond what they share with those before."""
        return ttft_of(sample for sample in self.cold if sample.is_cold)

    @cached_property
    def cached_ms(self) -> dict[str, float]:
        """TTFT of the cached requests."""
        return ttft_of(self.cached)

    def cached_ms_of(self, verdict: Verdict) -> dict[str, float]:
        """TTFT of the cached requests with that verdict."""
        return ttft_of(sample for sample in self.cached if sample.verdict is verdict)

    @cached_property
    def cold_drift(self) -> Drift | None:
        """The cold pass's drift, if it is shown to have one."""
        return drift(list(self.cold_ms.values()))

    @cached_property
    def cached_drift(self) -> Drift | None:
        """The cached pass's drift."""
        return drift(list(self.cached_ms.values()))

    @property
    def steady(self) -> bool:
        """Whether neither pass drifts, so that there is one truth to be estimated."""
        return self.cold_drift is None and self.cached_drift is None


def tier_samples(plan: Plan, samples: Iterable[Sample]) -> tuple[TierSamples, ...]:
    """The tiers in each topology of the plan that have any sample, in the plan's order.

    Args:
        plan: The plan of the run.
        samples: Samples of the last attempt of each block.
    """
    kept = sorted(
        (sample for sample in samples if sample.step in (Pass.COLD, Pass.CACHED)),
        key=lambda sample: sample.place,
    )
    found = []
    for topology in plan.passes.topologies:
        for tier in plan.tiers:
            own = [sample for sample in kept if sample.tier == tier.name]
            here = [sample for sample in own if sample.topology == topology]
            cached = tuple(sample for sample in here if sample.step is Pass.CACHED)
            blocks = {sample.block for sample in cached or here}
            cold = tuple(sample for sample in own if sample.block in blocks and sample.step is Pass.COLD)
            if cold or cached:
                found.append(TierSamples(tier.name, topology, cold, cached))
    return tuple(found)
