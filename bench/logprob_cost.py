"""What asking for log-probabilities costs in TTFT: ``python -m bench.logprob_cost``, on a machine left alone.

One campaign on the lab, half of whose requests ask for none (``bench/half_asking.py``), so that both kinds
meet the same engine, documents and moments. About 8 minutes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from bench.circumstances import about
from bench.lab_campaign import campaign
from kvtui.plan import Plan, TierKind
from kvtui.samples import Pass, Sample
from kvtui.stats.estimate import estimate, paired_differences, paired_ratios, ratio_estimate
from kvtui.tier_samples import ttft_of

PLAN = Path(__file__).with_suffix(".toml")
RECORD = Path(__file__).parents[1] / "docs" / "records" / "logprob-cost.json"


def rows(plan: Plan, samples: Sequence[Sample]) -> list[dict[str, Any]]:
    """With against without, document by document: of requests that compute and of those that reuse.

    Raises:
        ValueError: One of the two kinds has no document with both.
    """
    none = {tier.name for tier in plan.tiers if tier.kind is TierKind.NONE}
    cold = [one for one in samples if one.step is Pass.COLD]
    again = [one for one in samples if one.step is Pass.CACHED and one.tier in none]
    reusing = [one for one in samples if one.step is Pass.CACHED and one.tier not in none]
    return [_row("compute", [*cold, *again]), _row("reuse", reusing)]


def _row(what: str, samples: Sequence[Sample]) -> dict[str, Any]:
    asked = ttft_of(one for one in samples if one.answer is not None)
    plain = ttft_of(one for one in samples if one.answer is None)
    ratio = ratio_estimate(paired_ratios(asked, plain).values())
    more_ms = estimate(paired_differences(asked, plain).values())
    if ratio is None or more_ms is None:
        raise ValueError(f"no document of the requests that {what} was asked for both ways")
    return {
        "requests": what,
        "with_ms": median(asked.values()),
        "without_ms": median(plain.values()),
        "ratio": asdict(ratio),
        "more_ms": asdict(more_ms),
    }


def main() -> int:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--plan", type=Path, default=PLAN)
    parser.add_argument("--record", type=Path, default=RECORD)
    options = parser.parse_args()
    made = about("python -m bench.logprob_cost")
    found = campaign(options.plan, "bench.half_asking", "kvtui")
    if found is None:
        print("The campaign failed, so there is no record of it.", file=sys.stderr)
        return 1
    record = {**made, "rows": rows(found.plan, found.samples)}
    options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(record["rows"], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
