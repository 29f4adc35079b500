"""Finds, and where it can makes, what a lab is made of."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from remote.errors import LabError
from remote.lab import model, valkey
from remote.lab.info import LabParts
from remote.lab.paths import LabPaths

CONNECTOR_DIR = Path(__file__).parent / "cpu_connector"
CONNECTOR_MODULE = "kvtui_cpu_connector"
MODEL_LIMIT_S = 300


def find_parts(paths: LabPaths, say: Callable[[str], None]) -> LabParts:
    """Find the engine environment's programs, and build the tiny model where there is none yet.

    Raises:
        LabError: There is no engine environment, or the model could not be built.
    """
    if not paths.engine_python.exists():
        raise LabError(
            f"There is no engine environment in {paths.engine_env}.", "`kvtui lab up` installs it there."
        )
    if not model.is_built(paths.model_dir):
        say("Building the tiny model")
        build_model(paths.engine_python, paths.model_dir)
    return LabParts(
        engine_python=str(paths.engine_python),
        valkey_server=valkey.find_server(paths.engine_python),
        model_dir=str(paths.model_dir),
        connector_dir=str(CONNECTOR_DIR),
        connector_module=CONNECTOR_MODULE,
        served_name=model.SERVED_NAME,
    )


def build_model(python: Path, directory: Path) -> None:
    """Build the model with the engine's interpreter, which has the libraries for it.

    Raises:
        LabError: The builder failed.
    """
    command = [str(python), "-I", str(Path(model.__file__)), str(directory)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=MODEL_LIMIT_S, check=False)
    if result.returncode != 0:
        reason = (result.stderr.strip().splitlines() or ["no output"])[-1]
        raise LabError(
            f"The tiny model could not be built in {directory}: {reason}.",
            "Remove the engine environment and start the lab again.",
        )
