"""What other processes use: told apart from the run's own by mark, kinship, session and name."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from remote.onnode.others import Others
from tests.remote.node_runner import until

MARKS = {"KVTUI_RUN": "run-1", "KVTUI_LAB": "lab-1"}


class Host:
    """A /proc of made-up processes."""

    def __init__(self, proc: Path) -> None:
        self.proc = proc

    def set(
        self,
        pid: int,
        comm: str,
        cpu_ticks: int = 0,
        *,
        parent: int = 1,
        session: int = 0,
        environ: str = "",
        cmdline: str = "",
        moved: int = 0,
    ) -> None:
        """A process as it is now."""
        place = self.proc / str(pid)
        place.mkdir(exist_ok=True)
        numbers = ["S", parent, pid, session or pid, *[0] * 7, cpu_ticks, 0, *[0] * 6, 77, 0, 0]
        (place / "stat").write_text(f"{pid} ({comm}) " + " ".join(map(str, numbers)))
        (place / "environ").write_text(environ.replace(" ", "\0"))
        (place / "cmdline").write_text(cmdline.replace(" ", "\0"))
        (place / "io").write_text(f"rchar: 9\nread_bytes: {moved}\nwrite_bytes: {2 * moved}\n")

    def gone(self, pid: int) -> None:
        """It has ended."""
        for file in (self.proc / str(pid)).iterdir():
            file.unlink()
        (self.proc / str(pid)).rmdir()


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def look(others: Others) -> dict[str, object]:
    others._next_look = 0.0
    found = others.sample()
    assert found is not None
    return found


OWN: list[tuple[str, Callable[[Host, int], None]]] = [
    ("an engine of the run", lambda host, t: host.set(9, "vllm", t, environ="A=1 KVTUI_RUN=run-1")),
    ("a keeper", lambda host, t: host.set(9, "python", t, environ="KVTUI_KEEPS=run-1")),
    ("a part of the lab", lambda host, t: host.set(9, "python", t, environ="KVTUI_LAB=lab-1")),
    ("kvtui", lambda host, t: host.set(9, "python", t, cmdline="python -m kvtui run plan.toml")),
    ("kvtui's program", lambda host, t: host.set(9, "kvtui", t, cmdline="python /opt/bin/kvtui run")),
    ("the store", lambda host, t: host.set(9, "valkey-server", t)),
    ("the kernel", lambda host, t: host.set(9, "kworker/0:1", t, parent=2)),
]


@pytest.mark.parametrize(("what", "put"), OWN, ids=[name for name, _ in OWN])
def test_what_is_of_the_run_or_serves_it_is_no_other(
    host: Host, what: str, put: Callable[[Host, int], None]
) -> None:
    others = Others(str(host.proc), MARKS)
    put(host, 100)
    look(others)
    put(host, 900)
    assert look(others)["cpu_s"] == 0, what


def test_a_child_of_an_engine_that_wrote_over_its_environment_is_of_the_run(host: Host) -> None:
    others = Others(str(host.proc), MARKS)
    host.set(9, "vllm", 1, environ="KVTUI_RUN=run-1")
    host.set(10, "VLLM::EngineCore", 1, parent=9, environ="garbage")
    host.set(11, "VLLM::Worker", 1, parent=1, session=9, environ="garbage")
    look(others)
    for pid, parent in ((10, 9), (11, 1)):
        host.set(pid, "VLLM", 800, parent=parent, session=9)
    assert look(others)["cpu_s"] == 0


def test_others_are_added_up_from_the_first_look_and_told_by_name(host: Host) -> None:
    others = Others(str(host.proc), MARKS)
    host.set(9, "stress-ng", 5000, moved=1000)
    host.set(10, "vllm", 5000, environ="KVTUI_RUN=run-2")
    first = look(others)
    assert (first["cpu_s"], first["read_bytes"], first["cpu_top"]) == (0, 0, "")
    host.set(9, "stress-ng", 5300, moved=1000)
    host.set(10, "vllm", 5100, environ="KVTUI_RUN=run-2", moved=64)
    host.set(11, "dd", 20, moved=4096)
    ticks = os.sysconf("SC_CLK_TCK")
    second = look(others)
    assert second["cpu_s"] == pytest.approx(420 / ticks)
    assert (second["read_bytes"], second["write_bytes"]) == (4096 + 64, 8192 + 128)
    assert (second["cpu_top"], second["disk_top"]) == ("stress-ng", "dd")
    host.gone(9)
    assert look(others)["cpu_s"] == second["cpu_s"]
    host.set(11, "dd", 20)
    assert look(others)["cpu_top"] == ""


def test_a_session_of_ssh_that_becomes_another_program_is_an_other(host: Host) -> None:
    others = Others(str(host.proc), MARKS)
    host.set(9, "sshd", 100)
    look(others)
    host.set(9, "python", 300)
    look(others)
    host.set(9, "python", 500)
    assert look(others)["cpu_s"] != 0


def test_between_two_looks_nothing_is_told(host: Host) -> None:
    others = Others(str(host.proc), MARKS)
    assert others.sample() is not None
    assert others.sample() is None


BUSY = "while True: pass"
ORPHAN = """\
import subprocess, sys
quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
free = subprocess.Popen([sys.executable, "-c", sys.argv[1]], start_new_session=True, **quiet)
print(free.pid, flush=True)
"""


def test_a_stranger_that_keeps_this_processor_busy_is_seen_and_a_child_is_not() -> None:
    others = Others(environ={})
    look(others)
    # Its parent ends at once: what this process starts itself is of the run.
    made = subprocess.run(
        [sys.executable, "-c", ORPHAN, BUSY], capture_output=True, text=True, check=True, timeout=30
    )
    stranger = int(made.stdout)
    child = subprocess.Popen([sys.executable, "-c", BUSY])

    def seen() -> dict[int, float]:
        look(others)
        return {pid: used.cpu_s for (pid, _), used in others._used.items()}

    try:
        until(lambda: seen().get(stranger, 0.0) > 0.2, "the stranger")
        assert float(str(look(others)["cpu_s"])) > 0.2
        assert child.pid not in seen()
    finally:
        os.kill(stranger, signal.SIGKILL)
        child.kill()
        child.wait()


def test_where_nothing_can_be_read_nothing_is_claimed(tmp_path: Path) -> None:
    assert look(Others(str(tmp_path / "none"), {}))["cpu_s"] == 0
