"""The rules' table: TOML files of the package, by the part that writes the lines."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from kvtui.findings import Level
from kvtui.plan import TierKind
from kvtui.rules.context import Condition
from kvtui.rules.model import Quiet, Reading, Rule
from kvtui.samples import Pass

# Order matters within a line's candidates: the first rule that matches claims it.
FILES = ("keys.toml", "memory.toml", "disk.toml", "remote.toml", "reads.toml", "lmcache.toml", "vllm.toml")


@cache
def rules() -> tuple[Rule, ...]:
    """All rules, the more special ones of a text before the more general."""
    folder = files("kvtui.rules") / "data"
    tables = (tomllib.loads((folder / name).read_text(encoding="utf-8")) for name in FILES)
    return tuple(rule_from(row) for table in tables for row in table["rule"])


def rule_from(row: Mapping[str, Any]) -> Rule:
    """A rule from its table.

    Raises:
        KeyError: A field is missing.
        ValueError: A level or a condition is none.
        TypeError: A condition names something that a run does not have.
    """
    cases = tuple((_condition(case["when"]), _reading(case, row)) for case in row.get("case", ()))
    return Rule(
        code=row["code"],
        component=row["component"],
        has=(row["has"],) if isinstance(row["has"], str) else tuple(row["has"]),
        match=re.compile(row["match"]) if "match" in row else None,
        readings=(*cases, (Condition(), _reading(row, {}))),
        cause=row.get("cause", row["code"]),
        marks=row.get("marks", ""),
        example=row["example"],
    )


def _reading(row: Mapping[str, Any], otherwise: Mapping[str, Any]) -> Reading:
    """A case says only what differs from its rule."""
    level = row.get("level", otherwise.get("level"))
    return Reading(
        level=Quiet(level) if level in tuple(Quiet) else Level(level),
        means=row.get("means", otherwise.get("means")),
        remedy=row.get("remedy", otherwise.get("remedy", "")),
        command=row.get("command", otherwise.get("command", "")),
    )


def _condition(when: Mapping[str, Any]) -> Condition:
    plain = dict(when)
    return Condition(
        tiers=tuple(map(TierKind, plain.pop("tiers", ()))),
        steps=tuple(map(Pass, plain.pop("steps", ()))),
        lmcache=tuple(plain.pop("lmcache", ())),
        **plain,
    )
