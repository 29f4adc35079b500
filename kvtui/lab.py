"""The lab with kvtui's own places and pins: brought up, looked at, taken down."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Callable
from functools import partial

from remote.lab.engine_env import ensure

from kvtui.paths import Places
from remote.lab import control
from remote.lab.info import LabInfo, LabParts
from remote.lab.parts import find_parts
from remote.lab.paths import LabPaths

Say = Callable[[str], None]


def requirements(extra: str) -> tuple[str, ...]:
    """The pins of an extra, as the installed package's own metadata names them."""
    ending = re.compile(rf"""\s*;\s*extra\s*==\s*['"]{re.escape(extra)}['"]\s*$""")
    found = importlib.metadata.requires("kvtui") or []
    return tuple(ending.sub("", line) for line in found if ending.search(line))


def lab_paths(where: Places) -> LabPaths:
    """The lab's own directories."""
    return LabPaths(root=where.lab, engine_env=where.engine)


def _parts(paths: LabPaths, say: Say) -> LabParts:
    ensure(paths.engine_env, requirements("engine-cpu"), say)
    return find_parts(paths, say)


async def up(where: Places, say: Say, idle_lease_s: float | None = None) -> LabInfo:
    """Bring the lab up, its engine environment installed first where it is missing.

    Raises:
        LabError: It cannot be.
    """
    paths = lab_paths(where)
    return await control.up(paths, say, partial(_parts, paths, say), idle_lease_s=idle_lease_s)


async def is_up(where: Places) -> bool:
    """Whether a lab runs."""
    return (await control.status(lab_paths(where))).state == "up"


async def down(where: Places, say: Say) -> bool:
    """Take the lab down, and prove it; whether there was one.

    Raises:
        LabError: Something of it is left.
    """
    return await control.down(lab_paths(where), say)
