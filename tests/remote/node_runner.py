"""Runs the uploaded package as a node does, without a link: one HOME, one Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from remote.node_package import node_package
from remote.onnode import procfs

LIMIT_S = 20.0


class LocalNode:
    """A home directory, and the package in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.package = home / "agent.pyz"
        self.package.write_bytes(node_package().data)
        self.env = {**os.environ, "HOME": str(home)}
        self.markers: set[str] = set()

    def argv(self, command: str, *arguments: str) -> list[str]:
        return [sys.executable, "-I", "-S", str(self.package), command, *arguments]

    def start(self, command: str, **args: Any) -> subprocess.Popen[str]:
        """Ask without waiting for the answer."""
        process = subprocess.Popen(
            self.argv(command), env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(args))
        process.stdin.close()
        process.stdin = None
        return process

    def ask(self, command: str, **args: Any) -> dict[str, Any]:
        """A command's answer, whatever it is."""
        return answer_of(self.start(command, **args))

    def do(self, command: str, **args: Any) -> dict[str, Any]:
        """A command's answer, which must be a good one."""
        answer = self.ask(command, **args)
        assert answer["ok"], answer
        return answer

    def spawn(self, directory: str, *argv: str, **args: Any) -> dict[str, Any]:
        """Start a detached process."""
        request = {"dir": directory, "argv": argv, "lease_s": 60, "marker": "run-1", **args}
        self.markers.add(request["marker"])
        return self.ask("spawn", **request)

    def status(self, directory: str) -> dict[str, Any]:
        found: dict[str, Any] = self.do("status", dirs=[directory])["processes"][0]
        return found

    def sweep(self) -> None:
        """End whatever a test left behind."""
        for marker in self.markers:
            self.do("stop-marker", marker=marker, grace_s=0)


def answer_of(process: subprocess.Popen[str]) -> dict[str, Any]:
    stdout, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0
    answer: dict[str, Any] = json.loads(stdout)
    return answer


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition, with a bound."""
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    return procfs.stat(pid) is not None


def number_in(path: Path) -> int:
    """The pid that a process of a test wrote into a file."""
    until(lambda: path.exists() and path.read_text().endswith("\n"), f"{path} written")
    return int(path.read_text())
