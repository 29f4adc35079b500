"""Where a run and its tiers stand, in plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Sign(StrEnum):
    """States by sign; a word stands beside each."""

    GOOD = "✓"
    WARNING = "!"
    BAD = "✗"
    RUNNING = "◐"
    WAITING = "·"


@dataclass(frozen=True, slots=True)
class Head:
    """Where the run stands.

    Attributes:
        run: Its id.
        plan: Name of the plan.
        state: ``running``, ``done``, ``failed`` or ``stopped``.
        reason: Why it failed or was stopped, or empty.
        tier: Tier of the step under way, or empty.
        topology: ``single`` or ``fleet`` where the step has one, or empty.
        repeat: Repeat of the step under way, as in ``repeat 2 of 3``; empty where the plan has one.
        step: The step under way in words, without the tier: ``cached pass``, ``start engines``.
        node: The node that serves the pass under way, or empty.
        answered: Requests of this pass that were settled; ``None`` outside a pass.
        requests: Requests of this pass.
        share: Part of the whole run that is behind it, by time, 0 to 1.
        elapsed_s: Since the run began.
        step_left_s: What the step under way still takes; ``None`` when it is overdue.
        run_left_s: What the run still takes at least, each phase judged by its own kind.
        now: What happens this second, in words.
    """

    run: str
    plan: str
    state: str
    reason: str
    tier: str
    topology: str
    repeat: str
    step: str
    node: str
    answered: int | None
    requests: int | None
    share: float | None
    elapsed_s: float | None
    step_left_s: float | None
    run_left_s: float | None
    now: str


@dataclass(frozen=True, slots=True)
class TierMark:
    """One tier in one topology on the strip.

    Attributes:
        tier: Its name.
        topology: ``single`` or ``fleet``.
        sign: Its state.
        word: The state in a word or two.
        speedup: Median over the documents of cold ÷ cached.
        reused: Documents whose KV was reused whole.
        judged: Cached requests that were judged so far.
        documents: Documents of the plan.
        has_cache: Whether the tier can reuse at all.
        current: Whether the run works on it now.
        shown: Whether the view's figures are of it.
        repeat: Which repeat of the campaign the figures are of, from 1: the last that has any.
        repeats: Repeats of the plan.
    """

    tier: str
    topology: str
    sign: Sign
    word: str
    speedup: float | None
    reused: int
    judged: int
    documents: int
    has_cache: bool
    current: bool
    shown: bool
    repeat: int = 1
    repeats: int = 1
