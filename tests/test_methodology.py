"""Every test that the method names is there, and each of its points has one or admits that it has none."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
POINTS = re.split(r"^## ", (ROOT / "docs" / "methodology.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
NAMED = re.compile(r"^- `([^`]+)::([^`]+)`$", re.MULTILINE)


def names_in(path: str) -> set[str]:
    """Names of the test functions of a file."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    found = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in tree.body if isinstance(node, found) and node.name.startswith("test_")}


def test_every_test_that_is_named_exists() -> None:
    named = [match.groups() for point in POINTS for match in NAMED.finditer(point)]
    assert len(named) > len(POINTS)
    assert [f"{path}::{name}" for path, name in named if name not in names_in(path)] == []


def test_all_points_are_numbered_and_answered_or_said_to_be_open() -> None:
    assert [int(point.split(".")[0]) for point in POINTS] == list(range(1, 22))
    assert [
        point.splitlines()[0] for point in POINTS if not NAMED.search(point) and "Not yet:" not in point
    ] == []
