"""What is checked before anything is downloaded."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from kvtui import bootstrap
from kvtui.errors import ExitCode
from kvtui.paths import places

FLAGS = ["sse", "avx2"]


def test_a_machine_that_fits_has_no_fault() -> None:
    assert bootstrap.platform_faults("Linux", "x86_64", FLAGS) == []
    assert bootstrap.mendable_faults(True, 20.0, 50.0) == []
    assert bootstrap.mendable_faults(True, None, 50.0) == []


@pytest.mark.parametrize(
    ("system", "machine", "flags", "said"),
    [
        ("Darwin", "arm64", [], "Linux only"),
        ("Linux", "aarch64", [], "x86-64"),
        ("Linux", "x86_64", ["sse"], "AVX2"),
    ],
)
def test_a_machine_that_never_fits_is_told_why(
    system: str, machine: str, flags: list[str], said: str
) -> None:
    found = bootstrap.platform_faults(system, machine, flags)
    assert len(found) == 1
    assert said in found[0]


@pytest.mark.parametrize(
    ("numa", "memory_gib", "disk_gib", "said"),
    [
        (False, 20.0, 50.0, "libnuma"),
        (True, 3.0, 50.0, "3.0 are free"),
        (True, 20.0, 1.0, "1.0 are free"),
    ],
)
def test_what_can_be_mended_is_said_with_what_to_do(
    numa: bool, memory_gib: float, disk_gib: float, said: str
) -> None:
    found = bootstrap.mendable_faults(numa, memory_gib, disk_gib)
    assert len(found) == 1
    assert said in found[0]


def test_all_faults_are_said_at_once() -> None:
    assert len(bootstrap.mendable_faults(False, 1.0, 1.0)) == 3


def test_the_first_interpreter_that_fits_is_taken() -> None:
    versions = {"a": (3, 9), "b": None, "c": (3, 14), "d": (3, 12), "e": (3, 11)}
    assert bootstrap.find_python(list(versions), versions.__getitem__) == "d"
    assert bootstrap.find_python(["a", "b", "c"], versions.__getitem__) is None


def test_an_interpreter_is_asked_whether_it_can_make_environments(tmp_path: Path) -> None:
    assert bootstrap.version_of(sys.executable) == sys.version_info[:2]
    assert bootstrap.version_of(str(tmp_path / "none")) is None
    broken = tmp_path / "python3"
    broken.write_text("#!/bin/sh\nexit 127\n")
    broken.chmod(0o755)
    assert bootstrap.version_of(str(broken)) is None


def test_what_the_system_says_is_read_and_what_it_does_not_say_is_unknown(tmp_path: Path) -> None:
    info = tmp_path / "info"
    info.write_text("MemTotal: 9 kB\nMemAvailable:   12582912 kB\nflags\t\t: fpu avx2\n")
    assert bootstrap.available_gib(str(info)) == 12.0
    assert "avx2" in bootstrap.cpu_flags(str(info))
    assert bootstrap.available_gib(str(tmp_path / "none")) is None
    assert bootstrap.cpu_flags(str(tmp_path / "none")) == []
    assert bootstrap.free_gib(str(tmp_path / "a" / "b")) > 0


def test_its_exit_code_is_kvtuis_own() -> None:
    assert bootstrap.PREFLIGHT == ExitCode.PREFLIGHT


def test_it_looks_where_kvtui_puts_the_engine(own_places: Path) -> None:
    assert bootstrap.engine_dir() == str(places().engine)


def test_it_runs_under_an_old_python_and_needs_nothing() -> None:
    source = Path(bootstrap.__file__).read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 6))
    modules = {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    } | {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    assert modules <= set(sys.stdlib_module_names)
