"""Laboratory values that move from where they start to where they end, and stay physiological."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from corpus.dice import Dice


@dataclass(frozen=True, slots=True)
class Analyte:
    """A thing measured in blood, with its reference range."""

    name: str
    unit: str
    low: float
    high: float
    decimals: int

    def text(self, value: float) -> str:
        """The value as a laboratory prints it."""
        return f"{value:.{self.decimals}f}"

    def flag(self, value: float) -> str:
        """``H`` above the reference range, ``L`` below, else nothing; judged as printed."""
        printed = float(self.text(value))
        return "H" if printed > self.high else "L" if printed < self.low else ""


@cache
def analytes() -> Mapping[str, Analyte]:
    """All analytes by name, in the order of a report."""
    data = tomllib.loads(resources.files("corpus").joinpath("data", "labs.toml").read_text(encoding="utf-8"))
    return {
        row["name"]: Analyte(row["name"], row["unit"], row["low"], row["high"], row["decimals"])
        for row in data["analyte"]
    }


def course(dice: Dice, analyte: Analyte, start: float, end: float, days: int) -> tuple[float, ...]:
    """Daily values from ``start`` to ``end``: most of the change early, a little noise."""
    span = max(days - 1, 1)
    values = []
    for day in range(days):
        left = (1 - day / span) ** 2
        noise = dice.uniform(-0.025, 0.025)
        values.append(max(0.0, (end + (start - end) * left) * (1 + noise)))
    return tuple(values)


def healthy(dice: Dice, analyte: Analyte) -> float:
    """A value well inside the reference range."""
    width = analyte.high - analyte.low
    return dice.uniform(analyte.low + 0.2 * width, analyte.high - 0.25 * width)


def egfr(creatinine: float, age: int, woman: bool) -> int:
    """Estimated filtration rate in mL/min/1.73 m² (CKD-EPI 2021) from creatinine in µmol/L."""
    kappa, alpha = (0.7, -0.241) if woman else (0.9, -0.302)
    ratio = creatinine / 88.4 / kappa
    rate: float = 142 * min(ratio, 1) ** alpha * max(ratio, 1) ** -1.200 * 0.9938**age
    return int(rate * (1.012 if woman else 1) + 0.5)
