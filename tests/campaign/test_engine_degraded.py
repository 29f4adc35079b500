"""An engine that serves without the cache that the plan asks for ends the run, as a finding."""

from __future__ import annotations

import json

import pytest

from tests.campaign.conftest import Operator
from tests.campaign.test_bad_input import assert_nothing_left, check
from tests.campaign.test_cut_off import STAND_IN, record


async def launched(operator: Operator, said: str) -> list[tuple[str, str]]:
    """Codes and levels of a run whose engine says something and serves."""
    operator.engine(f"print({said!r}); import runpy; runpy.run_path({str(STAND_IN)!r}, run_name='__main__')")
    check(await operator.kvtui("launch", operator.write_plan(kind="dram")), 1, "LMCache failed to start")
    shown = json.loads((await operator.kvtui("results", record(operator).run, "--json")).stdout)
    assert_nothing_left(operator)
    return [(one["code"], one["level"]) for one in shown["findings"] if one["level"] != "info"]


@pytest.mark.parametrize("why", ["post_init: no such store", "no memory"])
async def test_lmcache_that_gave_up_is_a_finding(operator: Operator, why: str) -> None:
    said = f"LMCache ERROR: Failed during {why}. System will operate in degraded mode (recompute)."
    assert ("engine-degraded", "blocking") in await launched(operator, said)
