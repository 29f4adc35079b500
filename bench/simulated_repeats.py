"""Campaigns of several repeats with known truth: wrong alarms, planted shifts, repeats that are asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np

from bench.simulation import NOISES, Array, Report, names, percent
from kvtui.stats.estimate import Estimate, paired_ratios, ratio_estimate
from kvtui.stats.repeats import repeats_needed, shift

# Six tiers, each with a cold and a cached pass.
PASSES = 12
ALARMS = 0.05
# Documents and repeats of the campaigns that are made.
SHAPES = ((8, 2), (8, 3), (30, 2), (30, 3), (30, 5), (100, 3))
_SHIFTS = (0.03, 0.10)
_WITHIN = 0.02

Noise = Callable[[np.random.Generator, tuple[int, ...]], Array]


def repeats_of(
    rng: np.random.Generator, noise: Noise, count: int, repeats: int, effects: Sequence[float] = ()
) -> list[dict[str, float]]:
    """Times of a pass by document, a mapping a repeat: each document has a length, each request its noise."""
    own = 300 * np.exp(rng.normal(0, 0.1, count))
    times = own * noise(rng, (repeats, count)) * np.asarray(effects or [1.0] * repeats)[:, None]
    return [dict(zip(names(count), row, strict=True)) for row in times.tolist()]


def alarmed(rng: np.random.Generator, noise: Noise, count: int, repeats: int) -> bool:
    """Whether any pass of a campaign without shifts raises an alarm."""
    return any(shift(repeats_of(rng, noise, count, repeats)) is not None for _ in range(PASSES))


def found(rng: np.random.Generator, noise: Noise, count: int, repeats: int, by: float) -> bool:
    """Whether a last repeat that takes longer by that part is found in one pass."""
    effects = [*([1.0] * (repeats - 1)), 1 + by]
    made = shift(repeats_of(rng, noise, count, repeats, effects))
    return made is not None and made.slowest == repeats - 1


def repeats(report: Report, rng: np.random.Generator, campaigns: int) -> None:
    """Repeats that are alike, repeats that are not, and what is asked for."""
    few = max(1, campaigns // 10)
    report.say(
        "## Repeats",
        "",
        f"Campaigns of {PASSES} passes with several repeats, {few:,} a line. Repeats of a pass are said to "
        "differ when Friedman's test rejects at 0.4 % (the sign test where there are two) and the interval "
        "of the documents' ratios between the slowest and the fastest excludes 1. How often a campaign whose "
        "repeats are alike raises any alarm (claim: at most 5 %), and how often a last repeat that takes 3 % "
        "or 10 % longer is found in a pass. Two repeats need 9 documents: with 8 the sign test cannot reject "
        "at that level.",
    )
    report.table("noise", "n", "repeats", "wrong alarms, a campaign", "3 % found", "10 % found")
    for name, noise in NOISES.items():
        for count, times in SHAPES:
            wrong = sum(alarmed(rng, noise, count, times) for _ in range(few)) / few
            shares = [
                percent(sum(found(rng, noise, count, times, by) for _ in range(few)) / few) for by in _SHIFTS
            ]
            what = f"wrong alarm of repeats, {name}, n = {count}, {times} repeats"
            report.row(name, str(count), str(times), report.at_most(what, wrong, ALARMS, few), *shares)
    _medians(report, rng, campaigns)
    _asked_for(report, rng, min(500, campaigns))


def _speedups(rng: np.random.Generator, noise: Noise, count: int, times: int) -> list[dict[str, float]]:
    """Speedups around 4 whose documents differ by 2 %, a mapping a repeat."""
    own = 4 * np.exp(rng.normal(0, 0.02, count))
    rows = own * noise(rng, (times, count)) / noise(rng, (times, count))
    return [dict(zip(names(count), row, strict=True)) for row in rows.tolist()]


def _of_documents(rows: Sequence[dict[str, float]]) -> Estimate | None:
    middles = {name: median(row[name] for row in rows) for name in rows[0]}
    return ratio_estimate(paired_ratios(middles, dict.fromkeys(middles, 1.0)).values())


def _medians(report: Report, rng: np.random.Generator, campaigns: int) -> None:
    few = max(1, campaigns // 10)
    report.say(
        "The interval over documents, each the median of its repeats, whose true speedups differ by 2 %: the "
        f"claim is that it covers the median of 4 at its level less 0.5 points, in {few:,} campaigns a line. "
        "Beside it what the requests of all repeats would cover if they counted as independent.",
    )
    report.table("noise", "n", "repeats", "level", "covered", "covered, requests as independent")
    for name, noise in NOISES.items():
        for count, times in ((8, 3), (30, 3)):
            covered = pooled = 0
            level = 0.0
            for _ in range(few):
                rows = _speedups(rng, noise, count, times)
                one, all_ = _of_documents(rows), ratio_estimate([v for row in rows for v in row.values()])
                for made, is_pooled in ((one, False), (all_, True)):
                    if made is None or made.interval is None:
                        continue
                    held = made.interval.low <= 4 <= made.interval.high
                    pooled += held and is_pooled
                    covered += held and not is_pooled
                    level = level if is_pooled else made.interval.level
            # Three standard errors of the simulation beside the half point.
            margin = 0.005 + 3 * math.sqrt(level * (1 - level) / few)
            what = f"interval over {times} repeats, {name}, n = {count}"
            told = report.at_least(what, covered / few, level - margin)
            report.row(name, str(count), str(times), percent(level), told, percent(pooled / few))


def _asked_for(report: Report, rng: np.random.Generator, pilots: int) -> None:
    report.say(
        f"How many repeats of the same 60 documents would give the speedup within ± {_WITHIN * 100:g} %, by "
        "a pilot of 3 repeats: where it names a number, a run of so many is made. A half width ÷ wanted of "
        "1.00 is as wanted; the documents differ by 2 %, which no repeat mends.",
    )
    report.table("noise", "names a number", "repeats asked for, median", "half width ÷ wanted, median")
    for name, noise in NOISES.items():
        asked: list[int] = []
        widths: list[float] = []
        for _ in range(pilots):
            pilot = _speedups(rng, noise, 60, 3)
            made = _of_documents(pilot)
            needed = repeats_needed(pilot, made, _WITHIN) if made else None
            if needed is None:
                continue
            asked.append(needed)
            again = _of_documents(_speedups(rng, noise, 60, needed))
            if again is not None and again.interval is not None:
                width = math.log(again.interval.high / again.interval.low) / 2
                widths.append(width / math.log1p(_WITHIN))
        share = percent(len(asked) / pilots)
        if widths:
            report.row(name, share, f"{median(asked):g}", f"{median(widths):.2f}")
        else:
            report.row(name, share, "–", "–")
