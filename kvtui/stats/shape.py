"""What a pass's values look like: first ones unlike the rest, outliers, two groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median

# With fewer values there is no rest to compare the first ones with.
FIRST_FROM = 8
_UNLIKE = 1.25
_REST_AT_MOST = 400
_OUTLIERS_FROM = 8
# In standard deviations of a normal distribution whose MAD is that of the values; more where there are few.
_OUTLIER_FROM, _OUTLIER_MORE = 6.0, 60.0
_OUTLIER_PART = 0.1
TWO_GROUPS_FROM = 20
_GROUP_PART = 0.2
_EXPLAINED_FROM = 0.88
_GROUPS_APART = 1.1


def unlike_first(values: Sequence[float]) -> int:
    """How many of the first values are unlike the rest.

    The rest are the values after the first quarter. A first value is unlike them when it lies further outside
    of all of them than they are apart, and differs from their median by a quarter or more; the first one that
    does not ends the count.
    """
    count = len(values)
    if count < FIRST_FROM:
        return 0
    quarter = -(-count // 4)
    rest = values[quarter : quarter + _REST_AT_MOST]
    middle, low, high = median(rest), min(rest), max(rest)
    air = high - low
    for place, value in enumerate(values[:quarter]):
        apart = value > middle * _UNLIKE or value * _UNLIKE < middle
        if low - air <= value <= high + air or not apart:
            return place
    return quarter


def first_words(speedups: Sequence[float]) -> tuple[int, str]:
    """How many of the first documents are unlike the rest in their speedup, and a sentence about them."""
    unlike = unlike_first(speedups)
    if not unlike:
        return 0, ""
    shown = ", ".join(f"{value:.1f}×" for value in speedups[: min(unlike, 3)])
    more = ", …" if unlike > 3 else ""
    rest = median(speedups[unlike : unlike + _REST_AT_MOST])
    who = "The first document is" if unlike == 1 else f"The first {unlike} documents are"
    return unlike, f"{who} {shown}{more}; the rest {rest:.1f}×."


def outliers(values: Sequence[float]) -> tuple[int, ...]:
    """Places, from 0, of values far from the median by the median absolute deviation (MAD) of the logarithms.

    Far is beyond 6 + 60 ÷ n standard deviations of a normal distribution with that MAD, and 10 % or more: the
    MAD of few values is itself uncertain. Fewer than 8 values have none.

    Args:
        values: Positive values.
    """
    if len(values) < _OUTLIERS_FROM or min(values) <= 0:
        return ()
    logs = [math.log(value) for value in values]
    middle = median(logs)
    spread = 1.4826 * median(abs(log - middle) for log in logs)
    limit = max((_OUTLIER_FROM + _OUTLIER_MORE / len(values)) * spread, math.log1p(_OUTLIER_PART))
    return tuple(place for place, log in enumerate(logs) if abs(log - middle) > limit)


@dataclass(frozen=True, slots=True)
class TwoGroups:
    """Values that come in two groups.

    Attributes:
        low_n: How many are in the lower one.
        low: Its median.
        high_n: How many are in the higher one.
        high: Its median.
    """

    low_n: int
    low: float
    high_n: int
    high: float


def two_groups(values: Sequence[float]) -> TwoGroups | None:
    """The two groups that the values fall into; ``None`` where they are one.

    The best split of the ordered logarithms with at least a fifth of the values on either side must explain
    88 % of the variance (a normal distribution: 64 %, an even one: 75 %), and its medians be 10 % apart.
    Fewer than 20 values are too few to tell.

    Args:
        values: Positive values.
    """
    count = len(values)
    if count < TWO_GROUPS_FROM or min(values) <= 0:
        return None
    ascending = sorted(values)
    logs = [math.log(value) for value in ascending]
    mean = sum(logs) / count
    total = sum((log - mean) ** 2 for log in logs)
    sums = list(accumulate(log - mean for log in logs))
    least = math.ceil(count * _GROUP_PART)
    # Between the groups: the lower one's sum, squared, times n ÷ (k × (n − k)).
    between, split = max(
        (sums[k - 1] ** 2 * count / (k * (count - k)), k) for k in range(least, count - least + 1)
    )
    low, high = median(ascending[:split]), median(ascending[split:])
    if total <= 0 or between < _EXPLAINED_FROM * total or high < low * _GROUPS_APART:
        return None
    return TwoGroups(split, low, count - split, high)
