"""The lab on which confounds are planted, in directories of its own: set up, put right between runs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bench.place import make_place
from bench.store_client import store_client
from remote.lab import info
from remote.lab.info import LabInfo
from remote.lab.paths import NODE_NAMES, LabPaths
from remote.lab.valkey import MAXMEMORY_BYTES

FAULT_FILE = "engine-fault.sh"
CLOCK_FILE = "clock-step"
KV_DIR = "kv"
_WRAPPER = """\
#!/bin/sh
case "$2" in vllm.entrypoints.*)
  if [ -f "$HOME/{fault}" ]; then . "$HOME/{fault}"; fi ;;
esac
exec {python} "$@"
"""


@dataclass(frozen=True, slots=True)
class Stage:
    """A lab that is up.

    Attributes:
        env: Environment of kvtui.
        data: Its data directory.
    """

    env: Mapping[str, str]
    data: Path

    @property
    def runs(self) -> Path:
        """Where the records of its runs are."""
        return self.data / "runs"

    @property
    def paths(self) -> LabPaths:
        """The lab's files."""
        return LabPaths(self.data / "lab", self.data / "engine-cpu")

    @property
    def lab(self) -> LabInfo:
        """The lab.

        Raises:
            RuntimeError: It is not up.
        """
        found = info.read(self.paths.info)
        if found is None:
            raise RuntimeError("the lab is not up")
        return found

    def plant(self, engine_faults: Mapping[str, str]) -> None:
        """Give the engines of some nodes a fault, and take away what earlier plants left on any."""
        for node in NODE_NAMES:
            (self.paths.home(node) / CLOCK_FILE).unlink(missing_ok=True)
            fault = self.paths.home(node) / FAULT_FILE
            fault.unlink(missing_ok=True)
            if node in engine_faults:
                fault.write_text(engine_faults[node], encoding="utf-8")

    def empty_store(self) -> None:
        """Empty the store, and give it back its memory."""
        with store_client(self.lab) as client:
            client.config_set({"maxmemory": str(MAXMEMORY_BYTES), "maxmemory-policy": "noeviction"})
            client.flushall()
            client.config_resetstat()


def wrapper(python: str) -> str:
    """A script that is an engine's Python, and has the engine's fault done before it."""
    return _WRAPPER.format(fault=FAULT_FILE, python=shlex.quote(python))


def _wrap_engine(stage: Stage) -> None:
    """Have the nodes start their engines by way of a script that looks for a fault."""
    lab, script = stage.lab, stage.paths.root / "engine-python"
    script.write_text(wrapper(lab.parts.engine_python), encoding="utf-8")
    script.chmod(0o700)
    info.write(replace(lab, parts=replace(lab.parts, engine_python=str(script))), stage.paths.info)


@contextmanager
def stage(root: Path, engine_env: Path) -> Iterator[Stage]:
    """A lab below a directory, as long as the context.

    Args:
        root: The directory.
        engine_env: The engine environment.

    Raises:
        RuntimeError: The lab does not come up.
    """
    place = make_place(root, engine_env)
    made = Stage(place.env, place.data)
    try:
        up = place.kvtui("lab", "up")
        if up.returncode != 0:
            raise RuntimeError(up.stderr)
        _wrap_engine(made)
        yield made
    finally:
        place.kvtui("lab", "down")
