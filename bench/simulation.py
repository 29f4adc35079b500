"""What simulations of kvtui's statistics share: noise, a report of tables and claims, words for shares."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = Any
SIZES = (8, 30, 100)


def lognormal(rng: np.random.Generator, size: tuple[int, ...]) -> Array:
    """Even noise of 5 %."""
    return np.exp(rng.normal(0, 0.05, size))


def skewed(rng: np.random.Generator, size: tuple[int, ...]) -> Array:
    """A fastest possible time, and delays of 10 % on average."""
    return 1 + rng.exponential(0.10, size)


def heavy(rng: np.random.Generator, size: tuple[int, ...]) -> Array:
    """Student's t with 2 degrees of freedom, on the logarithm: some requests take many times as long."""
    return np.exp(np.clip(0.03 * rng.standard_t(2, size), -3, 3))


def bimodal(rng: np.random.Generator, size: tuple[int, ...]) -> Array:
    """Three of ten requests take 30 % longer, each mode with 2 % of noise."""
    return np.where(rng.random(size) < 0.3, 1.3, 1.0) * np.exp(rng.normal(0, 0.02, size))


NOISES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Array]] = {
    "lognormal, 5 %": lognormal,
    "skewed": skewed,
    "heavy-tailed": heavy,
    "bimodal": bimodal,
}


@dataclass(slots=True)
class Report:
    """What is written, and which claims failed.

    Attributes:
        lines: Markdown.
        failures: A sentence for each claim that does not hold.
    """

    lines: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def table(self, *headings: str) -> None:
        """Begin a table."""
        self.lines += ["", f"| {' | '.join(headings)} |", f"|{'|'.join([' --- '] * len(headings))}|"]

    def row(self, *cells: str) -> None:
        """A row of it."""
        self.lines.append(f"| {' | '.join(cells)} |")

    def say(self, *lines: str) -> None:
        """Text."""
        self.lines += ["", *lines]

    def at_least(self, what: str, share: float, least: float) -> str:
        """A claim from below; the figure in words."""
        if share < least:
            self.failures.append(f"{what}: {share:.4f}, claimed at least {least:.4f}.")
        return percent(share)

    def at_most(self, what: str, share: float, most: float, campaigns: int) -> str:
        """A claim from above, three standard errors of the simulation allowed; the figure in words."""
        if share > most + 3 * math.sqrt(most * (1 - most) / campaigns):
            self.failures.append(f"{what}: {share:.4f}, claimed at most {most:.4f}.")
        return percent(share)


def percent(share: float) -> str:
    """A share in words."""
    return f"{share * 100:.2f} %"


def share_of(share: float) -> str:
    """A round share in words."""
    return f"{share * 100:g} %"


def names(count: int) -> list[str]:
    """Documents."""
    return [f"doc-{place}" for place in range(count)]
