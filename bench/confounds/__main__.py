"""Plant confounds on the lab and see what kvtui finds: ``python -m bench.confounds [NAME…]``.

What was measured before stays; whether it is a detection is always judged anew.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from glide_sync import GlideError

from bench.confounds.outcome import Outcome, read, write
from bench.confounds.page import RECORD, page, problems
from bench.confounds.plant import Plant, clean_campaigns
from bench.confounds.plants import plants
from bench.confounds.running import carry_out
from bench.confounds.stage import stage
from kvtui.paths import places
from kvtui.plan import Plan

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "confounds.md"
CLEAN = "clean"

Turn = tuple[Plant | None, Plan, int]


def turns(chosen: Sequence[Plant], rounds: int, clean: int) -> Iterator[Turn]:
    """All campaigns, in the order in which they are worth most: a round of each plant, then clean ones."""
    campaigns = clean_campaigns()
    done = 0
    for turn in range(1, rounds + 1):
        for plant in chosen:
            yield plant, plant.plan, turn
        until = clean * turn // rounds
        while done < until:
            yield None, campaigns[done % len(campaigns)], done // len(campaigns) + 1
            done += 1


def _measure(missing: Sequence[Turn], engine: Path) -> Iterator[tuple[Plant | None, Outcome]]:
    """Carry campaigns out; after one that left the lab broken there is another lab."""
    number = 0
    while number < len(missing):
        # Beside the engine environment, which is on a disk: elsewhere temporary files may lie in memory.
        with (
            tempfile.TemporaryDirectory(dir=engine.parent) as directory,
            stage(Path(directory), engine) as there,
        ):
            whole = True
            while whole and number < len(missing):
                plant, plan, turn = missing[number]
                number += 1
                try:
                    outcome = carry_out(there, plan, plant, turn)
                except (OSError, RuntimeError, ValueError, GlideError) as error:
                    print(f"{plan.name}: {type(error).__name__}: {error}", flush=True)
                    whole = False
                else:
                    yield plant, outcome


def in_order(known: Sequence[Plant], outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Outcomes of the plants that there are, in their order, then those with nothing planted."""
    place = {plant.name: number for number, plant in enumerate(known)} | {"": len(known)}
    kept = [one for one in outcomes if one.plant in place]
    return sorted(kept, key=lambda one: (place[one.plant], one.round, one.campaign))


def told(plant: Plant | None, outcome: Outcome) -> str:
    """A campaign in a line."""
    name = plant.name if plant else f"{CLEAN} {outcome.campaign}"
    found = "" if plant is None else "found: " if outcome.detects(plant.demands) else "NOT FOUND: "
    seen = ", ".join(sorted(outcome.codes)) or "nothing above info"
    why = f" ({outcome.fault})" if outcome.fault else ""
    return (
        f"{name}, round {outcome.round}, {outcome.seconds:.0f} s, exit code {outcome.exit_code}: "
        f"{found}{seen}{why}"
    )


def main() -> int:
    """Measure what is missing, write the page, and say what was not found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which plants, or {CLEAN}; all without a name")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is planted")
    parser.add_argument("--clean", type=int, default=20, help="campaigns with nothing planted")
    parser.add_argument("--fresh", action="store_true", help="measure again what was measured before")
    parser.add_argument("--record", type=Path, default=ROOT / RECORD)
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    everything = plants()
    names = set(options.names)
    unknown = names - {plant.name for plant in everything} - {CLEAN}
    if unknown:
        parser.error(f"there is no plant {', '.join(sorted(unknown))}")
    chosen = [plant for plant in everything if not names or plant.name in names]
    clean = options.clean if not names or CLEAN in names else 0
    done = {one.key: one for one in read(options.record)}
    wanted = {
        (plant.name if plant else "", plan.name, turn): (plant, plan, turn)
        for plant, plan, turn in turns(chosen, options.rounds, clean)
    }
    missing = [turn for key, turn in wanted.items() if options.fresh or key not in done]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for number, (plant, outcome) in enumerate(_measure(missing, places().engine), 1):
            done[outcome.key] = outcome
            write(options.record, in_order(everything, done.values()))
            print(f"{time.strftime('%H:%M:%S')} {number}/{len(missing)} {told(plant, outcome)}", flush=True)
    except KeyboardInterrupt:
        print("Stopped; what was measured is kept.", flush=True)
    kept = in_order(everything, done.values())
    options.page.write_text(page(everything, kept), encoding="utf-8")
    found = problems(everything, kept)
    for problem in found:
        print(problem, flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
