"""Runs pip in an environment, and says in one sentence why it failed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from remote.errors import LabError

LINE_LIMIT_BYTES = 1 << 20
NETWORK_TROUBLE = (
    "Temporary failure in name resolution",
    "Name or service not known",
    "Failed to establish a new connection",
    "Connection refused",
    "Network is unreachable",
    "Read timed out",
    "CERTIFICATE_VERIFY_FAILED",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a program ended, and what it said."""

    status: int
    lines: tuple[str, ...]


class Pip:
    """pip of one Python; everything it says goes to a log file too.

    Args:
        python: Interpreter whose pip is meant.
        log: File to append to.
        temporary: Directory for what pip downloads and builds.
    """

    def __init__(self, python: Path, log: Path, temporary: Path) -> None:
        self.python = python
        self.log = log
        self.temporary = temporary

    async def __call__(self, *arguments: str, heard: Callable[[str], None] | None = None) -> Outcome:
        """Run pip; `heard` gets each line as it comes."""
        command = [str(self.python), "-m", "pip", *arguments]
        environment = clean_environment(os.environ) | {
            "TMPDIR": str(self.temporary),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_INPUT": "1",
            "PIP_PROGRESS_BAR": "off",
            "PYTHONUNBUFFERED": "1",
        }
        return await run(command, environment, self.log, heard)


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Leave out what would bend another Python: its path, its home, the caller's virtual environment."""
    unwanted = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__"}
    return {name: value for name, value in environment.items() if name not in unwanted}


async def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
    heard: Callable[[str], None] | None = None,
) -> Outcome:
    """Run a program to its end; it ends with us, should we be cancelled."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=dict(environment),
        start_new_session=True,
        limit=LINE_LIMIT_BYTES,
    )
    assert process.stdout is not None  # noqa: S101
    lines: list[str] = []
    try:
        with log.open("a", encoding="utf-8") as file:
            print("$", *command, file=file, flush=True)
            async for raw in process.stdout:
                line = raw.decode(errors="replace").rstrip()
                print(line, file=file, flush=True)
                lines.append(line)
                if heard is not None:
                    heard(line)
        return Outcome(await process.wait(), tuple(lines))
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


def failure(outcome: Outcome, directory: Path, log: Path) -> LabError:
    """Say in one sentence why pip failed, and what to do."""
    text = "\n".join(outcome.lines)
    where = f"The engine environment could not be installed in {directory}"
    missing = re.search(r"No matching distribution found for (\S+)", text)
    if "No space left on device" in text:
        return LabError(f"{where}: the disk is full.", "Free some space and start the lab again.")
    if any(trouble in text for trouble in NETWORK_TROUBLE):
        return LabError(
            f"{where}: pip cannot reach its package index.",
            f"Check the network and pip's configuration ({log}).",
        )
    if outcome.status < 0:
        return LabError(
            f"{where}: pip was killed by signal {-outcome.status}, perhaps for lack of memory.",
            "Free some memory and start the lab again.",
        )
    if missing:
        return LabError(
            f"{where}: pip finds no {missing[1]} for this Python and machine.", f"pip's log is {log}."
        )
    errors = [line.removeprefix("ERROR: ") for line in outcome.lines if line.startswith("ERROR:")]
    reason = errors[0] if errors else f"pip ended with status {outcome.status}"
    return LabError(f"{where}: {reason.rstrip('.')}.", f"pip's log is {log}.")
