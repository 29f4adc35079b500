"""How fast log lines are classified, as a ratio to a plain loop of re.search over the same rules.

Lines of real engines, a flood of one warning, and a flood of warnings that no rule knows; one core, one run.

    python bench/classify.py --lines 50000
"""

from __future__ import annotations

import argparse
import gzip
import re
import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from pathlib import Path

from kvtui.loglines import clean
from kvtui.plan import TierKind
from kvtui.rules.classify import Classifier
from kvtui.rules.context import RunContext
from kvtui.rules.merge import LogFindings
from kvtui.rules.model import Rule
from kvtui.rules.table import rules
from kvtui.samples import Pass

LOGS = Path(__file__).parents[1] / "tests" / "data" / "logs"
TARGET_LINES_S, TARGET_RATIO = 100_000, 40
PLAIN_LINES = 2_000
BATCH = 2_000
ROUNDS = 4

Work = Callable[[Sequence[str]], object]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--lines", type=int, default=50_000, help="lines of each kind")
    options = parser.parse_args()
    classifier = Classifier(rules())
    patterns = [re.compile(plain_pattern(rule)) for rule in rules()]
    real = real_lines()
    floods = {
        "real logs": real,
        "one warning": [line for line in real if "Failed to allocate memory block" in line],
        "unknown warnings": [
            f"(EngineCore pid=7) WARNING 11-29 17:00:00 [x.py:{n}] Frobnication {n} failed"
            for n in range(997)
        ],
    }
    print(f"{len(patterns)} rules; on real logs {TARGET_LINES_S:,} lines/s and {TARGET_RATIO}× are wanted")
    print(f"{'lines':<18}{'plain loop/s':>14}{'classified/s':>14}{'ratio':>8}{'merged/s':>12}")
    for name, some in floods.items():
        lines = list(islice(cycle(some), options.lines))
        plain, fast, merged = speeds(
            (lambda part: plain_loop(patterns, part), spread(lines)),
            (classifier.classify_many, lines),
            (feeder(classifier), lines),
        )
        print(f"{name:<18}{plain:>14,.0f}{fast:>14,.0f}{fast / plain:>8.0f}{merged:>12,.0f}")


def plain_pattern(rule: Rule) -> str:
    """What a person would write for a rule without a prefilter."""
    texts = "|".join(map(re.escape, rule.has))
    return rule.match.pattern if rule.match else texts


def plain_loop(patterns: Sequence[re.Pattern[str]], lines: Sequence[str]) -> int:
    """Ask every rule about every line."""
    return sum(pattern.search(text) is not None for text in map(clean, lines) for pattern in patterns)


def feeder(classifier: Classifier) -> Work:
    """Classify and merge, as the live screen does."""
    findings = LogFindings(RunContext(tier_kind=TierKind.DRAM, step=Pass.COLD), classifier)
    numbers = iter(range(1, 10**9, BATCH))
    return lambda lines: findings.feed("node", "engine", next(numbers), lines)


def speeds(*tasks: tuple[Work, Sequence[str]]) -> list[float]:
    """Lines a second of processor time, the best of some rounds in which every task takes its turn."""
    best = [float("inf")] * len(tasks)
    for _ in range(ROUNDS):
        for number, (work, lines) in enumerate(tasks):
            start = time.process_time()
            for first in range(0, len(lines), BATCH):
                work(lines[first : first + BATCH])
            best[number] = min(best[number], time.process_time() - start)
    return [len(lines) / seconds for seconds, (_, lines) in zip(best, tasks, strict=True)]


def spread(lines: Sequence[str]) -> Sequence[str]:
    """As many lines as the plain loop can bear, from everywhere in the log."""
    return lines[:: max(1, len(lines) // PLAIN_LINES)]


def real_lines() -> list[str]:
    """All lines of the recorded logs."""
    found: list[str] = []
    for path in sorted(LOGS.iterdir()):
        data = path.read_bytes()
        text = gzip.decompress(data) if path.suffix == ".gz" else data
        found += text.decode("utf-8", errors="replace").splitlines()
    return found


if __name__ == "__main__":
    main()
