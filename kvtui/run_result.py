"""A run's result beside what it was computed from."""

from __future__ import annotations

from dataclasses import dataclass

from kvtui.plan import Plan
from kvtui.results import Result
from kvtui.samples import Sample


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run's result with what it was computed from.

    Attributes:
        result: Tables and findings.
        plan: The plan as it was carried out.
        samples: Every sample of each block's last attempt.
    """

    result: Result
    plan: Plan
    samples: tuple[Sample, ...]
