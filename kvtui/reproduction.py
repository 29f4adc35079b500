"""Was a run reproduced by another? Pass by pass, paired by document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kvtui.result_words import level, ratio
from kvtui.run_result import RunResult
from kvtui.stats.compare import Equivalence, Reproduced, equivalent
from kvtui.stats.estimate import paired_ratios
from kvtui.stats.repeats import Shift
from kvtui.stats.trend import Drift
from kvtui.tier_samples import TierSamples, tier_samples


@dataclass(frozen=True, slots=True)
class Repeated:
    """One figure of a tier in both runs.

    Attributes:
        tier: Name of the tier.
        topology: Where its cached pass ran.
        what: ``cold``, ``cached`` or ``speedup``.
        moved: By how much it moved within either run, as a part: its drift, or how much its repeats differ,
            whichever is the largest. ``None`` where neither is shown.
        found: What the two one-sided tests say.
    """

    tier: str
    topology: str
    what: str
    moved: float | None
    found: Equivalence

    @property
    def drifting(self) -> bool:
        """Whether it moved by more than the margin, so that nothing may be said."""
        return self.moved is not None and self.moved > self.found.within

    @property
    def outcome(self) -> Reproduced:
        """What may be said."""
        return Reproduced.NOT_SHOWN if self.drifting else self.found.outcome


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A run held against another.

    Attributes:
        first: Id of the one.
        second: Id of the other.
        within: The margin as a part.
        alike: Whether both had the same model and the same documents.
        figures: Each figure that both have.
    """

    first: str
    second: str
    within: float
    alike: bool
    figures: tuple[Repeated, ...]

    @property
    def reproduced(self) -> bool:
        """Whether every figure was reproduced within the margin."""
        return (
            self.alike
            and bool(self.figures)
            and all(figure.outcome is Reproduced.WITHIN for figure in self.figures)
        )

    def to_json(self) -> dict[str, Any]:
        """As a JSON object of schema 1."""
        figures = [
            {**asdict(figure), "drifting": figure.drifting, "outcome": figure.outcome.value}
            for figure in self.figures
        ]
        return {"v": 1, **asdict(self), "figures": figures, "reproduced": self.reproduced}


def reproduction(first: RunResult, second: RunResult, within: float) -> Reproduction:
    """Hold two runs against each other.

    Args:
        first: The one.
        second: The other.
        within: The margin as a part: 0.1 for 10 %.
    """
    one, two = first.plan, second.plan
    alike = (one.model, one.corpus, one.engine, one.hash.chunk_tokens) == (
        two.model,
        two.corpus,
        two.engine,
        two.hash.chunk_tokens,
    )
    figures = tuple(_figures(tier_samples(one, first.samples), tier_samples(two, second.samples), within))
    return Reproduction(first.result.run, second.result.run, within, alike, figures)


def _figures(
    first: Sequence[TierSamples], second: Sequence[TierSamples], within: float
) -> Iterator[Repeated]:
    others = {(tier.tier, tier.topology): tier for tier in second}
    for one in first:
        two = others.get((one.tier, one.topology))
        if two is None:
            continue
        cold = _moves(one.cold_drift, one.cold_shift, two.cold_drift, two.cold_shift)
        cached = _moves(one.cached_drift, one.cached_shift, two.cached_drift, two.cached_shift)
        parts: tuple[tuple[str, list[float], Mapping[str, float], Mapping[str, float]], ...] = (
            ("cold", cold, one.cold_ms, two.cold_ms),
            ("cached", cached, one.cached_ms, two.cached_ms),
            (
                "speedup",
                cold + cached,
                paired_ratios(one.cold_ms, one.cached_ms),
                paired_ratios(two.cold_ms, two.cached_ms),
            ),
        )
        for what, moves, before, after in parts:
            found = equivalent(before, after, within)
            yield Repeated(one.tier, one.topology.value, what, max(moves, default=None), found)


def _moves(*found: Drift | Shift | None) -> list[float]:
    """What is known to have moved within a run, which then has no truth of its own to a smaller margin."""
    return [abs(one.size) for one in found if one is not None]


def reproduction_text(found: Reproduction) -> str:
    """A line a figure, and the verdict."""
    lines = [_line(figure) for figure in found.figures]
    margin = f"{found.within * 100:g} %"
    if not found.alike:
        lines.append(
            "The runs had different models, engines or documents, so nothing can have been reproduced."
        )
    elif found.reproduced:
        lines.append(
            f"Run {found.first} is reproduced within {margin} by run {found.second}, in every figure."
        )
    else:
        count = sum(figure.outcome is Reproduced.WITHIN for figure in found.figures)
        lines.append(
            f"Run {found.first} is not shown to be reproduced within {margin} by run {found.second}: "
            f"{count} of {len(found.figures)} figures are."
        )
    return "\n".join(lines)


def _line(figure: Repeated) -> str:
    found = figure.found
    words = f"{figure.tier} · {figure.topology} · {figure.what}: {figure.outcome}"
    if figure.moved is not None and figure.drifting:
        return f"{words} (moved by {figure.moved * 100:.1f} % within a run)"
    if found.ratio is None:
        return f"{words} (no common document)"
    words += f" (second ÷ first {ratio(found.ratio)}"
    if found.low is not None and found.high is not None and found.alpha is not None:
        words += f", {ratio(found.low).rstrip('×')} to {ratio(found.high)}, two tests at {level(found.alpha)}"
    return f"{words}, n={found.n})"
