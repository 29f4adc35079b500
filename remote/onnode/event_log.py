"""The append-only file of a pass's events: one line of JSON each, one write each."""

from __future__ import annotations

import fcntl
import json
import os
import time
from typing import Any, Dict, Optional, Set

VERSION = 1


class AlreadyRunning(Exception):
    """Another probe writes to this file."""


class EventLog:
    """Appends events, after it has learnt from those that are there.

    Attributes:
        began: Whether the pass was begun before.
        ended: Whether the pass was ended before.
        settled: Requests that are done or failed.
        attempts: How often a request was sent.
    """

    def __init__(self, path: str) -> None:
        self.began = self.ended = False
        self.settled: Set[str] = set()
        self.attempts: Dict[str, int] = {}
        self.ok = self.failed = 0
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise AlreadyRunning from None
        self._learn(path)

    def write(
        self,
        kind: str,
        request: Optional[Dict[str, Any]] = None,
        mono_ns: Optional[int] = None,
        **fields: Any,
    ) -> None:
        """Append an event; ``mono_ns`` is its time on the monotonic clock, now when not given."""
        event: Dict[str, Any] = {
            "v": VERSION,
            "kind": kind,
            "wall_s": time.time(),
            "mono_ns": time.perf_counter_ns() if mono_ns is None else mono_ns,
        }
        if request is not None:
            event["request_id"] = request["request_id"]
            event["meta"] = request.get("meta") or {}
        event.update(fields)
        line = json.dumps(event).encode() + b"\n"
        if os.write(self._descriptor, line) != len(line):
            raise OSError("the disk is full")
        self._note(event)

    def _learn(self, path: str) -> None:
        with open(path, "rb") as file:
            content = file.read()
        for line in content.splitlines():
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict):
                self._note(event)
        if content and not content.endswith(b"\n"):
            # A line that a full disk cut off. A reader may have seen it, so it stays where it is.
            os.write(self._descriptor, b"\n")

    def _note(self, event: Dict[str, Any]) -> None:
        kind, request_id = event.get("kind"), event.get("request_id", "")
        if kind == "pass_begin":
            self.began = True
        elif kind == "pass_end":
            self.ended = True
        elif kind == "sent":
            self.attempts[request_id] = self.attempts.get(request_id, 0) + 1
        elif kind in ("done", "failed"):
            self.settled.add(request_id)
            self.ok += kind == "done"
            self.failed += kind == "failed"
