"""What all tests share: no skips where they are not wanted, no paths of the person who runs them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from kvtui.paths import places

# A busy machine is slow, not wrong.
settings.register_profile("kvtui", deadline=None)
settings.load_profile("kvtui")

_skipped: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember each skipped test."""
    if report.skipped and not hasattr(report, "wasxfail"):
        _skipped.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Where KVTUI_NO_SKIPS is set, a skipped test is a failure."""
    if os.environ.get("KVTUI_NO_SKIPS") and _skipped and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why a run without a failed test failed."""
    if os.environ.get("KVTUI_NO_SKIPS") and _skipped:
        terminalreporter.write_line(
            f"{len(_skipped)} skipped, which counts as failed here: {_skipped}", red=True
        )


@pytest.fixture
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Directories of kvtui's own below a temporary one."""
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    return tmp_path


@pytest.fixture(scope="session")
def engine_env() -> Path:
    """The lab's engine environment: real vLLM, LMCache and Valkey."""
    named = os.environ.get("KVTUI_ENGINE_ENV")
    directory = Path(named) if named else places().engine
    if not (directory / "bin" / "python").exists():
        pytest.skip(f"there is no engine environment in {directory}: `kvtui lab up` installs it")
    return directory
