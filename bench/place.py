"""Directories of kvtui's own, in which whole runs on the lab are made."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


def kvtui(env: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line to its end."""
    return subprocess.run(
        [sys.executable, "-m", "kvtui", *arguments],
        env=dict(env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Directories of kvtui's own, with the engine environment in them."""

    env: Mapping[str, str]
    data: Path

    @property
    def runs(self) -> Path:
        """Where the records of its runs are."""
        return self.data / "runs"

    def kvtui(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command line to its end."""
        return kvtui(self.env, *arguments)


def make_place(root: Path, engine_env: Path) -> Place:
    """A place below a directory."""
    data = root / "data" / "kvtui"
    data.mkdir(parents=True)
    (data / "engine-cpu").symlink_to(engine_env)
    env = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    env |= {"XDG_DATA_HOME": str(root / "data"), "XDG_STATE_HOME": str(root / "state")}
    return Place(env, data)
