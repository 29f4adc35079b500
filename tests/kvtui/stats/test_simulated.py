"""The claims of ``docs/statistics.md`` in small: fewer campaigns, margins that chance does not reach."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench import simulated_statistics as simulation
from bench.simulation import NOISES, Report
from kvtui.stats.compare import Claim, Reproduced, compare, equivalent
from kvtui.stats.estimate import ratio_estimate
from kvtui.stats.trend import drift

CAMPAIGNS = 400
# Five standard errors of a share near 5 % over 400 campaigns.
MARGIN = 5 * math.sqrt(0.05 * 0.95 / CAMPAIGNS)


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("count", [8, 30])
def test_intervals_cover_their_level_and_claims_are_rarely_wrong(name: str, count: int) -> None:
    rng = np.random.default_rng(7)
    covered = faster = reproduced = 0
    level = 0.0
    for one, two in simulation.campaigns_of(rng, NOISES[name], CAMPAIGNS, count, 1.0):
        found = ratio_estimate([one[key] / two[key] for key in one])
        assert found is not None
        assert found.interval is not None
        level = found.interval.level
        covered += found.interval.low <= 1 <= found.interval.high
        faster += compare(one, two).claim is not Claim.NOT_SHOWN
        slower = {key: value * 1.1 for key, value in two.items()}
        reproduced += equivalent(one, slower, 0.1).outcome is Reproduced.WITHIN
    assert covered / CAMPAIGNS >= level - MARGIN
    assert faster / CAMPAIGNS <= 0.05 + MARGIN
    assert reproduced / CAMPAIGNS <= 0.05 + MARGIN


def test_a_drift_of_3_percent_is_found_at_30_and_none_where_there_is_none() -> None:
    rng = np.random.default_rng(8)
    noise = rng.normal(0, 0.01, (CAMPAIGNS, 30))
    rising = np.exp(noise + np.linspace(0, math.log(1.03), 30)).tolist()
    assert sum(drift(values) is not None for values in rising) / CAMPAIGNS >= 0.85
    assert sum(drift(values) is not None for values in np.exp(noise).tolist()) / CAMPAIGNS <= 0.03


def test_a_claim_that_does_not_hold_is_a_failure() -> None:
    report = Report()
    report.at_least("coverage", 0.949, 0.945)
    report.at_most("wrong", 0.06, 0.05, 100)
    assert report.failures == []
    report.at_least("coverage", 0.944, 0.945)
    report.at_most("wrong", 0.06, 0.05, 10_000)
    assert len(report.failures) == 2
