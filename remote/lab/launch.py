"""Starts the lab's daemon as a process of its own, and hears from it once."""

from __future__ import annotations

import json
import os
import secrets
import select
import subprocess
import sys
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, Self

from remote.lab import members
from remote.lab.info import LabParts
from remote.lab.paths import LabPaths


@dataclass(frozen=True, slots=True)
class Answer:
    """What a daemon that was just started says."""

    ok: bool
    another_runs: bool = False
    message: str = ""
    hint: str = ""


class Launch:
    """A daemon that is starting; `with` closes the pipe to it, nothing more."""

    def __init__(self, paths: LabPaths, parts: LabParts, idle_lease_s: float | None) -> None:
        self.lab_id = secrets.token_hex(6)
        order = {
            "root": str(paths.root.resolve()),
            "engine_env": str(paths.engine_env),
            "lab_id": self.lab_id,
            "parts": asdict(parts),
            "idle_lease_s": idle_lease_s,
        }
        reading, writing = os.pipe()
        self._ready = open(reading, encoding="utf-8")  # noqa: SIM115
        with open(writing, "wb"), paths.daemon_log.open("ab") as output:
            command = [sys.executable, "-P", "-m", "remote.lab.daemon"]
            subprocess.run(
                [*command, json.dumps(order), "--ready-fd", str(writing)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=[writing],
                start_new_session=True,
                env={**os.environ, members.MARKER: self.lab_id},
                cwd="/",
                check=False,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ready.close()

    def has_answered(self) -> bool:
        """Tell whether there is an answer, or the end of a daemon that gave none."""
        return bool(select.select([self._ready], [], [], 0)[0])

    def answer(self) -> Answer:
        """Read the answer; waits unless `has_answered`."""
        line = self._ready.readline()
        fields: dict[str, Any] = json.loads(line) if line else {}
        message = str(fields.get("message", "The lab's daemon died while it started."))
        return Answer(
            ok=bool(fields.get("ok")),
            another_runs=bool(fields.get("another_runs")),
            message=message,
            hint=str(fields.get("hint", "")),
        )
