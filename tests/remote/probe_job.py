"""Jobs for the probe, and the events that it wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from remote.onnode.event_log import EventLog
from remote.onnode.probe import Probe
from tests.remote.scripted_engine import PROMPT_TOKENS


class Pass:
    """One pass in a directory of its own."""

    def __init__(self, directory: Path, port: int, requests: int = 1, timeout_s: float = 10) -> None:
        self.dir = directory
        self.requests = [
            {
                "request_id": f"r{n}",
                "expect_prompt_tokens": PROMPT_TOKENS,
                "body": {"model": "m", "prompt": list(range(PROMPT_TOKENS)), "max_tokens": 2},
                "meta": {"document": n},
            }
            for n in range(1, requests + 1)
        ]
        self.job: dict[str, Any] = {
            "v": 1,
            "port": port,
            "events": str(directory / "events.jsonl"),
            "requests": str(directory / "requests.jsonl"),
            "timeout_s": timeout_s,
            "lease_dirs": [],
        }

    def write(self) -> str:
        """Write the job's files; the path of the job."""
        lines = [json.dumps(request) + "\n" for request in self.requests]
        Path(self.job["requests"]).write_text("".join(lines))
        path = self.dir / "job.json"
        path.write_text(json.dumps(self.job))
        return str(path)

    def run(self) -> list[dict[str, Any]]:
        """Carry the pass out in this process."""
        Probe(self.job, EventLog(self.job["events"])).run(self.requests)
        return self.events()

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        path = Path(self.job["events"])
        lines = path.read_text().splitlines() if path.exists() else []
        found = [json.loads(line) for line in lines if line.endswith("}") and line.startswith("{")]
        return [event for event in found if kind in (None, event["kind"])]

    def result(self) -> dict[str, Any]:
        """The last word on the only request."""
        self.run()
        [event] = self.events("done") + self.events("failed")
        return event
