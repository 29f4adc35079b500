"""How long a run will still take: from what its own steps took so far, else from a rough first guess."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median

from kvtui.campaign.steps import Step, StepKind
from kvtui.plan import Plan

# First guesses in seconds, until a step of the kind has been seen: starts on two busy cores, small checks.
_GUESSES = {
    StepKind.PREPARE: 8.0,
    StepKind.EMPTY: 1.0,
    StepKind.ENGINES: 50.0,
    StepKind.CORPUS: 3.0,
    StepKind.WARMUP: 8.0,
    StepKind.FINGERPRINT: 1.0,
    StepKind.GATE: 6.0,
    StepKind.SETTLE: 2.0,
    StepKind.STOP: 4.0,
    StepKind.FINISH: 2.0,
}
# Guess for a pass: prefill of a 7B model on one mid-range GPU, and of a tiny one on CPU, alike.
_COLD_MS_A_TOKEN = 0.3
_CACHED_OF_COLD = 0.5


def _guess_s(step: Step, plan: Plan) -> float:
    cold_s = plan.corpus.documents * plan.corpus.prompt_tokens * _COLD_MS_A_TOKEN / 1000
    if step.kind is StepKind.COLD:
        return cold_s
    return cold_s * _CACHED_OF_COLD if step.kind is StepKind.CACHED else _GUESSES[step.kind]


def left_s(
    plan: Plan,
    remaining: Iterable[Step],
    seen_s: Mapping[StepKind, list[float]],
) -> float:
    """Seconds that the remaining steps will take.

    A phase is judged by its own kind: cold and cached passes differ by up to sixty times, so a mean over
    everything would lie.

    Args:
        plan: The plan of the run.
        remaining: Its steps that are not done, the running one first.
        seen_s: What the steps done so far took, by kind.
    """
    return sum(
        median(seen_s[step.kind]) if seen_s.get(step.kind) else _guess_s(step, plan) for step in remaining
    )


def in_words(seconds: float) -> str:
    """A duration for people: no finer than it is known."""
    if seconds < 60:
        return f"{max(5, round(seconds / 5) * 5)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{seconds / 3600:.1f} h"
