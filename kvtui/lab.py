"""The lab with kvtui's own places and pins: installed, brought up, looked at, taken down."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from functools import partial
from typing import Protocol

from kvtui.eta import in_words
from kvtui.paths import Places
from remote.lab import control
from remote.lab.engine_env import install, is_installed
from remote.lab.info import LabInfo
from remote.lab.install_progress import STEPS, Progress
from remote.lab.parts import find_parts
from remote.lab.paths import LabPaths


class Teller(Protocol):
    """Who tells the person what happens."""

    def say(self, text: str) -> None:
        """Something worth a line."""

    def phase(self, text: str) -> None:
        """What is happening this second."""


def requirements(extra: str) -> tuple[str, ...]:
    """The pins of an extra, as the installed package's own metadata names them, vLLM's first."""
    ending = re.compile(rf"""\s*;\s*extra\s*==\s*['"]{re.escape(extra)}['"]\s*$""")
    found = importlib.metadata.requires("kvtui") or []
    pins = (ending.sub("", line) for line in found if ending.search(line))
    return tuple(sorted(pins, key=lambda pin: not pin.startswith("vllm")))


def lab_paths(where: Places) -> LabPaths:
    """The lab's own directories."""
    return LabPaths(root=where.lab, engine_env=where.engine)


def install_words(progress: Progress) -> str:
    """How far an installation is, in words."""
    step = f"{progress.title} ({progress.step + 1} of {len(STEPS)})"
    sizes = f"{progress.downloaded_bytes / 1e6:,.0f} MB fetched, {progress.disk_bytes / 1e6:,.0f} MB on disk"
    return f"{step}: {sizes}, about {in_words(progress.eta_s)} left"


async def ensure_engine(where: Places, teller: Teller) -> None:
    """Install the lab's engine environment, unless it is there whole.

    Raises:
        LabError: It cannot be installed.
    """
    wanted = requirements("engine-cpu")
    if is_installed(where.engine, wanted):
        return
    teller.say(f"Installing the lab's engine environment into {where.engine}: {', '.join(wanted)}")
    await install(
        where.engine, wanted, sys.executable, lambda progress: teller.phase(install_words(progress))
    )
    teller.say("The engine environment is installed.")


async def up(where: Places, teller: Teller, idle_lease_s: float | None = None) -> LabInfo:
    """Bring the lab up, its engine environment installed first where it is missing.

    Args:
        where: kvtui's places.
        teller: Who tells the person.
        idle_lease_s: End the lab after this time without a connection and without an engine.

    Raises:
        LabError: It cannot be.
    """
    await ensure_engine(where, teller)
    paths = lab_paths(where)
    parts = partial(find_parts, paths, teller.say)
    return await control.up(paths, teller.say, parts, idle_lease_s=idle_lease_s)


async def is_up(where: Places) -> bool:
    """Whether a lab runs."""
    return (await control.status(lab_paths(where))).state == "up"


async def down(where: Places, teller: Teller) -> bool:
    """Take the lab down, and prove it; whether there was one.

    Raises:
        LabError: Something of it is left.
    """
    return await control.down(lab_paths(where), teller.say)
