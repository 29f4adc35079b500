"""How long the Plan screen's reckoning takes at a keystroke: 30 documents of 10,000 tokens, five tiers.

Each round changes a capacity, as typing does, so that nothing is remembered from the round before.
"""

from __future__ import annotations

import statistics
import sys
import time

from kvtui.check import Known, assess
from kvtui.plan import Plan, Tier, TierKind, load_plan, validated
from kvtui.plan_draft import check, draft_of
from kvtui.recordings import PLANS

ROUNDS = 50


def five_tiers() -> Plan:
    """The seed's plan with a second DRAM tier and the engine without LMCache."""
    plan = load_plan(PLANS / "seed.toml")
    more = (
        Tier(name="none", kind=TierKind.NONE),
        Tier(name="dram-large", kind=TierKind.DRAM, capacity_gib=24),
    )
    return validated(plan.model_copy(update={"tiers": (*more, *plan.tiers)}))


def main() -> int:
    """Print median and worst of the two parts of a keystroke."""
    draft = draft_of(five_tiers())
    checks, assessments = [], []
    for number in range(ROUNDS):
        began = time.perf_counter()
        plan = check(draft.put_tier(2, "capacity_gib", f"{8 + number / 8}")).plan
        checked = time.perf_counter()
        if plan is None:
            return 1
        assess(plan, Known())
        assessments.append((time.perf_counter() - checked) * 1000)
        checks.append((checked - began) * 1000)
    for name, times in (("form to plan", checks), ("plan to assessment", assessments)):
        print(f"{name:20}median {statistics.median(times):6.1f} ms   worst {max(times):6.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
