"""The samples of one tier in one topology: cold passes, and the cached passes that followed them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from kvtui.attribution import Verdict
from kvtui.plan import Plan, Topology
from kvtui.samples import Pass, Sample
from kvtui.stats.repeats import Shift, shift
from kvtui.stats.trend import Drift, drift
from kvtui.units import with_repeat


def _by_document(values: Iterable[tuple[str, float]]) -> dict[str, float]:
    """The median of each document's values, the documents in the order in which they came first."""
    found: dict[str, list[float]] = {}
    for document, value in values:
        found.setdefault(document, []).append(value)
    return {document: median(own) for document, own in found.items()}


def _succeeded(samples: Iterable[Sample]) -> Iterator[tuple[str, float]]:
    return ((sample.document, sample.ttft_ms) for sample in samples if sample.ttft_ms is not None)


def ttft_of(samples: Iterable[Sample]) -> dict[str, float]:
    """TTFT by document of the requests that succeeded, in their order: the median where there are repeats."""
    return _by_document(_succeeded(samples))


@dataclass(frozen=True)
class TierSamples:
    """A tier in a topology, over all repeats of the campaign or in one of them.

    The document is the unit: requests of one document in several repeats are not independent, so they make
    one figure, their median.

    Attributes:
        tier: Name of the tier.
        topology: Where the cached passes ran.
        cold: Samples of the cold passes, repeat by repeat, each in the order of their places.
        cached: Samples of the cached passes, likewise.
    """

    tier: str
    topology: Topology
    cold: tuple[Sample, ...]
    cached: tuple[Sample, ...]

    @cached_property
    def repeats(self) -> tuple[TierSamples, ...]:
        """Each repeat alone, in order; a single repeat is itself."""
        numbers = sorted({sample.repeat for sample in (*self.cold, *self.cached)})
        if len(numbers) < 2:
            return (self,)
        return tuple(
            TierSamples(
                self.tier,
                self.topology,
                tuple(sample for sample in self.cold if sample.repeat == number),
                tuple(sample for sample in self.cached if sample.repeat == number),
            )
            for number in numbers
        )

    @property
    def repeat(self) -> int:
        """Which repeat it is; of several, the first."""
        return min((sample.repeat for sample in (*self.cold, *self.cached)), default=1)

    @property
    def words(self) -> str:
        """Its tier, and which repeat it is from the second on."""
        return with_repeat(self.tier, self.repeat)

    @cached_property
    def cold_requests_ms(self) -> tuple[float, ...]:
        """TTFT of every cold request that reused nothing beyond what it shares with those before it."""
        return tuple(ms for _, ms in _succeeded(sample for sample in self.cold if sample.is_cold))

    @cached_property
    def cached_requests_ms(self) -> tuple[float, ...]:
        """TTFT of every cached request that succeeded."""
        return tuple(ms for _, ms in _succeeded(self.cached))

    @cached_property
    def cold_ms(self) -> dict[str, float]:
        """TTFT by document of the requests that were cold."""
        return ttft_of(sample for sample in self.cold if sample.is_cold)

    @cached_property
    def cached_ms(self) -> dict[str, float]:
        """TTFT by document of the cached requests."""
        return ttft_of(self.cached)

    def cached_ms_of(self, verdict: Verdict) -> dict[str, float]:
        """TTFT by document of the cached requests with that verdict."""
        return ttft_of(sample for sample in self.cached if sample.verdict is verdict)

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict on each document's cached requests; partial where repeats do not agree."""
        seen: dict[str, set[Verdict]] = {}
        for sample in self.cached:
            seen.setdefault(sample.document, set()).add(sample.verdict)
        return {
            document: next(iter(own))
            if len(own) == 1
            else Verdict.UNKNOWN
            if Verdict.UNKNOWN in own
            else Verdict.PARTIAL
            for document, own in seen.items()
        }

    @cached_property
    def reused_tokens(self) -> dict[str, float]:
        """Tokens that each document's cached request reused, as far as that is known."""
        return _by_document(
            (sample.document, sample.reused_tokens)
            for sample in self.cached
            if sample.reused_tokens is not None
        )

    @cached_property
    def cold_drift(self) -> Drift | None:
        """The drift within a cold pass, the largest where several have one; ``None`` where none is shown."""
        if len(self.repeats) > 1:
            return _largest(one.cold_drift for one in self.repeats)
        return drift(list(self.cold_ms.values()))

    @cached_property
    def cached_drift(self) -> Drift | None:
        """The drift within a cached pass."""
        if len(self.repeats) > 1:
            return _largest(one.cached_drift for one in self.repeats)
        return drift(list(self.cached_ms.values()))

    @cached_property
    def cold_shift(self) -> Shift | None:
        """How the cold passes of the repeats differ, if that is shown."""
        return shift([one.cold_ms for one in self.repeats])

    @cached_property
    def cached_shift(self) -> Shift | None:
        """How the cached passes of the repeats differ."""
        return shift([one.cached_ms for one in self.repeats])

    @property
    def repeats_differ(self) -> bool:
        """Whether repeats differ by so much that they have no one truth."""
        return any(one is not None and one.matters for one in (self.cold_shift, self.cached_shift))

    @property
    def cold_steady(self) -> bool:
        """Whether the cold passes have one truth to be estimated: no drift, and repeats that are alike."""
        return self.cold_drift is None and not (self.cold_shift and self.cold_shift.matters)

    @property
    def cached_steady(self) -> bool:
        """Whether the cached passes have one."""
        return self.cached_drift is None and not (self.cached_shift and self.cached_shift.matters)

    @property
    def steady(self) -> bool:
        """Whether both have one."""
        return self.cold_steady and self.cached_steady


def _largest(drifts: Iterable[Drift | None]) -> Drift | None:
    return max((one for one in drifts if one is not None), key=lambda one: abs(one.size), default=None)


def tier_samples(plan: Plan, samples: Iterable[Sample]) -> tuple[TierSamples, ...]:
    """The tiers in each topology of the plan that have any sample, in the plan's order.

    Args:
        plan: The plan of the run.
        samples: Samples of the last attempt of each block.
    """
    kept = sorted(
        (sample for sample in samples if sample.step in (Pass.COLD, Pass.CACHED)),
        key=lambda sample: (sample.repeat, sample.place),
    )
    found = []
    for topology in plan.passes.topologies:
        for tier in plan.tiers:
            own = [sample for sample in kept if sample.tier == tier.name]
            here = [sample for sample in own if sample.topology == topology]
            cached = tuple(sample for sample in here if sample.step is Pass.CACHED)
            measured = {sample.repeat for sample in cached}
            # A fleet may share the single node's cold pass; a repeat without cached samples has but its own.
            blocks = {sample.block for sample in cached} | {
                sample.block for sample in here if sample.repeat not in measured
            }
            cold = tuple(sample for sample in own if sample.block in blocks and sample.step is Pass.COLD)
            if cold or cached:
                found.append(TierSamples(tier.name, topology, cold, cached))
    return tuple(found)
