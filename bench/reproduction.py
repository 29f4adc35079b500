"""A lab campaign of three repeats on one more occasion, held against the one before it.

Each call runs the campaign of ``reproduction.toml``, adds its compact result to ``docs/records/reproduction``
and writes ``docs/reproduction.md``. All records are kept, whatever the test says of them.

    python -m bench.reproduction
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.circumstances import about
from bench.lab_campaign import campaign
from bench.reproduction_record import packed, read_all, unpacked
from kvtui.reproduction import reproduction, reproduction_text

WITHIN = 0.10
Record = dict[str, Any]
"""A campaign as it was packed."""
DOCS = Path(__file__).parents[1] / "docs"
PLAN = Path(__file__).parent / "reproduction.toml"


def attempts(records: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Each campaign with the one before it of the same plan."""
    found = []
    for place, after in enumerate(records):
        before = [one for one in records[:place] if one["plan"] == after["plan"]]
        if before:
            found.append((before[-1], after))
    return found


def page(records: Sequence[Record]) -> str:
    """All campaigns, and each that has one of the same plan before it held against that, as Markdown."""
    lines = [
        "# A campaign, run again on another occasion",
        "",
        "Campaigns on the lab, with the plan that `bench/reproduction.toml` then was: the tiers of the "
        "repeats in a balanced order, every document the median of its repeats. Each campaign is held "
        "against the one of the same plan before it by kvtui's own test: two one-sided sign tests at 5 %, "
        f"by document, that figures differ by less than {WITHIN * 100:g} %. It must hold of every one: "
        "cold, cached and speedup of each tier. Where a pass drifts by more, or repeats differ by more, "
        "nothing is shown.",
        "",
        "    make reproduction     # one more campaign, kept in docs/records/reproduction",
        "",
        "| run | date | commit | load before it | cores | tiers | repeats | documents | answer tokens |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [f"| {' | '.join(_cells(one))} |" for one in records]
    for before, after in attempts(records):
        found = reproduction(unpacked(before), unpacked(after), WITHIN)
        verdict = "reproduced" if found.reproduced else "not shown to be reproduced"
        lines += ["", f"## {before['run']} and {after['run']}: {verdict}", ""]
        lines += [f"    {line}" for line in reproduction_text(found).splitlines()]
    return "\n".join((*lines, ""))


def _cells(one: Record) -> tuple[str, ...]:
    plan = one["plan"]
    return (
        one["run"],
        one["date"],
        one["commit"][:8],
        f"{one['load_before']:.2f}",
        str(one["cores"]),
        ", ".join(tier["name"] for tier in plan["tiers"]),
        str(plan["passes"]["repeats"]),
        str(plan["corpus"]["documents"]),
        str(plan["engine"]["output_tokens"]),
    )


def main() -> int:
    """One more campaign, its record, and the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--plan", type=Path, default=PLAN)
    parser.add_argument("--docs", type=Path, default=DOCS, help="where records and page are kept")
    options = parser.parse_args()
    made = about(" ".join(["python -m bench.reproduction", *sys.argv[1:]]))
    found = campaign(options.plan)
    if found is None:
        print("The campaign failed, so there is no record of it.", file=sys.stderr)
        return 1
    directory = options.docs / "records" / "reproduction"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"{found.result.run}.json").write_text(packed(found, made), encoding="utf-8")
    known = read_all(directory)
    (options.docs / "reproduction.md").write_text(page(known), encoding="utf-8")
    pairs = [(before, after) for before, after in attempts(known) if after["run"] == found.result.run]
    if not pairs:
        print("This is the first campaign of the plan. Run the command once more on another occasion.")
    for before, after in pairs:
        print(reproduction_text(reproduction(unpacked(before), unpacked(after), WITHIN)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
