"""Invented drugs with the classes and doses that real ones of their sort have."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class Drug:
    """A substance that does not exist.

    Attributes:
        name: Its generic name, made up on the stem of its class.
        drug_class: What it is.
        doses: The doses that are given, smallest first.
        route: How it is given.
        frequency: How often.
        watch: What has to be monitored.
        indication: What it is commonly given for; empty for what is given in hospital only.
    """

    name: str
    drug_class: str
    doses: tuple[str, ...]
    route: str
    frequency: str
    watch: str
    indication: str

    def order(self, dose: str) -> str:
        """A line of a prescription."""
        return f"{self.name} {dose} {self.route} {self.frequency}"


@cache
def for_long_use() -> tuple[Drug, ...]:
    """The drugs that are prescribed for a condition outside hospital."""
    return tuple(drug for drug in drugs().values() if drug.indication)


@cache
def others(drug: Drug) -> tuple[Drug, ...]:
    """The drugs by mouth that somebody may take besides this one."""
    return tuple(item for item in drugs().values() if item is not drug and item.route == "by mouth")


@cache
def drugs() -> Mapping[str, Drug]:
    """All drugs by class."""
    data = tomllib.loads(resources.files("corpus").joinpath("data", "drugs.toml").read_text(encoding="utf-8"))
    return {
        row["class"]: Drug(
            row["name"],
            row["class"],
            tuple(row["doses"]),
            row["route"],
            row["frequency"],
            row["watch"],
            row.get("indication", ""),
        )
        for row in data["drug"]
    }
