"""One measurement against another, paired by document: faster, slower, equivalent, or nothing shown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kvtui.stats.estimate import Estimate, middle_of, paired_ratios, ratio_estimate
from kvtui.stats.order import largest_rank, least_count, median_interval, outside

# Chance to claim an equivalence that is none, at most: each of two one-sided tests has it.
EQUIVALENCE_ALPHA = 0.05


class Claim(StrEnum):
    """What may be said of one against the other."""

    FASTER = "faster"
    SLOWER = "slower"
    NOT_SHOWN = "no difference shown"


class Reproduced(StrEnum):
    """What may be said of one measurement and its repetition."""

    WITHIN = "reproduced"
    BEYOND = "not reproduced"
    NOT_SHOWN = "neither shown"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One against another, by the documents that both have.

    Attributes:
        ratio: The other's time ÷ its own, so above 1 is faster; ``None`` without a common document.
        claim: What may be said.
    """

    ratio: Estimate | None
    claim: Claim


def compare(own: Mapping[str, float], other: Mapping[str, float], *, steady: bool = True) -> Comparison:
    """Is ``own`` faster? Claimed only when the interval of the paired ratios lies on one side of 1.

    That is the two-sided sign test at 5 %, which assumes nothing of the noise. Where either drifts there is
    no interval; then only documents that all say the same are a claim, from 6 of them.

    Args:
        own: Times by document.
        other: Times of what it is compared with.
        steady: Whether neither drifts.
    """
    ratios = paired_ratios(other, own)
    found = ratio_estimate(ratios.values(), steady=steady)
    if found is None or found.n < least_count():
        return Comparison(found, Claim.NOT_SHOWN)
    low, high = min(ratios.values()), max(ratios.values())
    if found.interval is not None:
        low, high = found.interval.low, found.interval.high
    claim = Claim.FASTER if low > 1 else Claim.SLOWER if high < 1 else Claim.NOT_SHOWN
    return Comparison(found, claim)


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Whether a measurement was reproduced.

    Attributes:
        within: The margin: 0.1 for 10 %.
        n: Documents that both have.
        ratio: Median of the second ÷ the first; ``None`` without a common document.
        low: Lower end of what the two one-sided tests cannot exclude; ``None`` with fewer than 5 documents.
        high: Upper end.
        alpha: Chance that each test really has to claim wrongly.
        outcome: What may be said.
    """

    within: float
    n: int
    ratio: float | None
    low: float | None
    high: float | None
    alpha: float | None
    outcome: Reproduced


def equivalent(first: Mapping[str, float], second: Mapping[str, float], within: float) -> Equivalence:
    """Do two measurements agree within a margin, by two one-sided sign tests on the paired ratios?

    Both must exclude that the median ratio lies beyond the margin, each at a level of 5 % or less that
    follows from the number of documents alone; so a wrong claim has that chance at most, whatever the noise.

    Args:
        first: Times by document.
        second: Times of the repetition.
        within: The margin as a part: the ratio must lie between 1 ÷ (1 + within) and 1 + within.
    """
    ratios = sorted(paired_ratios(second, first).values())
    middle = middle_of(ratios) if ratios else None
    rank = largest_rank(len(ratios), EQUIVALENCE_ALPHA)
    if rank == 0:
        return Equivalence(within, len(ratios), middle, None, None, None, Reproduced.NOT_SHOWN)
    low, high = ratios[rank - 1], ratios[-rank]
    outcome = _outcome(ratios, low, high, within)
    return Equivalence(within, len(ratios), middle, low, high, outside(len(ratios), rank), outcome)


def _outcome(ratios: Sequence[float], low: float, high: float, within: float) -> Reproduced:
    margin = math.log1p(within)
    if -margin < math.log(low) and math.log(high) < margin:
        return Reproduced.WITHIN
    found = median_interval(ratios)
    if found:
        beyond = math.log(found.low) >= margin or math.log(found.high) <= -margin
        return Reproduced.BEYOND if beyond else Reproduced.NOT_SHOWN
    return Reproduced.NOT_SHOWN
