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
    """

    name: str
    drug_class: str
    doses: tuple[str, ...]
    route: str
    frequency: str
    watch: str

    def order(self, dose: str) -> str:
        """A line of a prescription."""
        return f"{self.name} {dose} {self.route} {self.frequency}"


@cache
def drugs() -> Mapping[str, Drug]:
    """All drugs by class."""
    data = tomllib.loads(resources.files("corpus").joinpath("data", "drugs.toml").read_text(encoding="utf-8"))
    return {
        row["class"]: Drug(
            row["name"], row["class"], tuple(row["doses"]), row["route"], row["frequency"], row["watch"]
        )
        for row in data["drug"]
    }
