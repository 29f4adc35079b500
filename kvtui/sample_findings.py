"""Findings that a finished run's own times make: drift, odd first requests, outliers, two groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from kvtui.findings import Finding, Level
from kvtui.repeat_findings import repeat_findings
from kvtui.samples import Sample
from kvtui.stats.estimate import paired_ratios
from kvtui.stats.order import P95_FROM
from kvtui.stats.shape import first_words, outliers, two_groups, unlike_first
from kvtui.stats.trend import Drift
from kvtui.tier_samples import TierSamples
from kvtui.units import ms, named

# A drift warns when it is beyond doubt, matters, and the pass was long enough to tell it from a slow start.
_SURE, _MATTERS = 0.001, 0.03


def sample_findings(tiers: Sequence[TierSamples]) -> tuple[Finding, ...]:
    """What the times of each pass say; a cold pass that two topologies share is told of once."""
    found: dict[Finding, None] = {}
    cold_seen: set[tuple[str, ...]] = set()
    for tier in tiers:
        for one in tier.repeats:
            found |= dict.fromkeys(_of_repeat(one, cold_seen))
        found |= dict.fromkeys(repeat_findings(tier))
    return tuple(found)


def _of_repeat(tier: TierSamples, cold_seen: set[tuple[str, ...]]) -> Iterator[Finding]:
    block = tuple(sample.request_id for sample in tier.cold)
    first, words = _first(tier)
    if words:
        where = f"{tier.words} · {tier.topology}"
        yield Finding(Level.INFO, "first-requests-differ", words, _FIRST_REMEDY, where)
    if block not in cold_seen:
        cold_seen.add(block)
        yield from _of_pass(f"{tier.words} · cold", tier.cold_ms, tier.cold_drift, first)
    yield from _of_pass(f"{tier.words} · {tier.topology} · cached", tier.cached_ms, tier.cached_drift, first)


_FIRST_REMEDY = "The medians hold; means would not."


def _of_pass(where: str, ttft_ms: Mapping[str, float], drifts: Drift | None, first: int) -> Iterator[Finding]:
    values = list(ttft_ms.values())
    if drifts is not None:
        yield _drift(where, len(values), drifts)
    groups = two_groups(values) if values and min(values) > 0 else None
    if groups is not None and drifts is None:
        yield Finding(
            Level.WARNING,
            "two-groups",
            f"TTFT comes in two groups: {groups.low_n} requests around {ms(groups.low)} and {groups.high_n} "
            f"around {ms(groups.high)}. The median describes neither.",
            "Look at what tells them apart: reuse, length, or something that runs now and then.",
            where,
        )
    odd = [place for place in outliers(values) if place >= first]
    if odd and groups is None:
        names = list(ttft_ms)
        shown = named([f"{names[place]} {ms(values[place])}" for place in odd])
        yield Finding(
            Level.INFO,
            "outliers",
            f"{len(odd)} of {len(values)} requests are far from the median, {ms(median(values))}: {shown}.",
            "The median holds; look at their log lines.",
            where,
        )


def _drift(where: str, count: int, drifts: Drift) -> Finding:
    warns = count >= P95_FROM and abs(drifts.size) >= _MATTERS and drifts.chance <= _SURE
    way = "rises" if drifts.size > 0 else "falls"
    return Finding(
        Level.WARNING if warns else Level.INFO,
        "drift",
        f"TTFT {way} by {abs(drifts.size) * 100:.0f} % from the first of {count} requests to the last, so "
        "there is no one truth, and no interval.",
        "Look for what changed meanwhile: clocks, another process, memory that fills, a disk's cache.",
        where,
    )


def _first(tier: TierSamples) -> tuple[int, str]:
    """How many of the first documents are unlike the rest, and why, by the figures of each request."""
    ratios = paired_ratios(tier.cold_ms, tier.cached_ms)
    unlike, words = first_words(list(ratios.values()))
    if not unlike:
        return 0, ""
    cold, cached = list(tier.cold_ms.values()), list(tier.cached_ms.values())
    slow = unlike_first(cold)
    if slow and cold[0] > median(cold[slow:]):
        rest = ms(median(cold[slow:]))
        return unlike, f"{words} Their cold requests were slow, {ms(cold[0])} against {rest}: a cold engine."
    early, late = _reused(tier.cached[:unlike]), _reused(tier.cached[unlike:])
    if early is not None and late is not None and late < early * 0.95:
        parts = f"{late * 100:.0f} % against {early * 100:.0f} %"
        return unlike, f"{words} Later ones reused less, {parts}: stores were dropped."
    if unlike_first(cached):
        return (
            unlike,
            f"{words} Reuse was alike, but they were read at another speed: {_speeds(tier, unlike)}.",
        )
    return unlike, words


def _reused(samples: Sequence[Sample]) -> float | None:
    """Median part of the reusable tokens that was reused; ``None`` where that is unknown of any."""
    parts = [
        sample.reused_tokens / sample.reusable_tokens
        for sample in samples
        if sample.reused_tokens is not None and sample.reusable_tokens > 0
    ]
    return median(parts) if parts and len(parts) == len(samples) else None


def _speeds(tier: TierSamples, unlike: int) -> str:
    """Read rates of the first and of the rest by LMCache's lines, or their TTFT where there are none."""
    rates = []
    for sample in tier.cached:
        size, took = sample.evidence.get("retrieve_gib"), sample.evidence.get("retrieve_ms")
        rates.append(size / took * 1000 if size and took else None)
    first = [rate for rate in rates[:unlike] if rate is not None]
    rest = [rate for rate in rates[unlike:] if rate is not None]
    if first and rest:
        return f"{median(first):.2f} GiB/s against {median(rest):.2f} GiB/s"
    values = list(tier.cached_ms.values())
    return f"{ms(values[0])} against {ms(median(values[unlike:]))}"
