"""A campaign's result in few bytes: what the tables say, and every measured request as a row of columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kvtui.plan import Plan
from kvtui.results import result_of
from kvtui.run_result import RunResult
from kvtui.samples import Pass, Sample, sample_from

_COLUMNS = (
    "tier",
    "block",
    "topology",
    "repeat",
    "step",
    "document",
    "place",
    "run_place",
    "ttft_ms",
    "prompt_tokens",
    "reusable_tokens",
    "reused_tokens",
    "shared_tokens",
    "verdict",
)


def packed(found: RunResult, about: dict[str, Any]) -> str:
    """The record as JSON, a line a request; ``about`` says where it is from."""
    result = found.result.to_json()
    head = {
        "v": 1,
        **about,
        "run": found.result.run,
        "state": found.result.state,
        "plan": found.plan.model_dump(mode="json"),
        "rows": result["rows"],
        "findings": result["findings"],
        "columns": _COLUMNS,
    }
    rows = [
        json.dumps([_value(sample, name) for name in _COLUMNS], ensure_ascii=False)
        for sample in found.samples
        if sample.step in (Pass.COLD, Pass.CACHED)
    ]
    begin = json.dumps(head, indent=1, ensure_ascii=False).rstrip("}").rstrip()
    return begin + ',\n "samples": [\n  ' + ",\n  ".join(rows) + "\n ]\n}\n"


def _value(sample: Sample, name: str) -> Any:
    value = getattr(sample, name)
    return round(value, 3) if isinstance(value, float) else value


def unpacked(data: dict[str, Any]) -> RunResult:
    """What the reproduction test needs, from a record's JSON."""
    plan = Plan.model_validate_json(json.dumps(data["plan"]))
    own = {"v": 1, "src": "kvtui", "wall_s": 0.0}
    left_out = {"attempt": 1, "node": plan.passes.cold_node, "reason": "", "evidence": {}}
    events = [
        {
            **own,
            "kind": "sample",
            **left_out,
            "request_id": str(number),
            **dict(zip(data["columns"], row, strict=True)),
        }
        for number, row in enumerate(data["samples"])
    ]
    samples = tuple(sample_from(event) for event in events)
    return RunResult(result_of(data["run"], plan, [*events, {**own, "kind": "run_done"}]), plan, samples)


def read_all(directory: Path) -> tuple[dict[str, Any], ...]:
    """Every record of a directory, the oldest first."""
    return tuple(json.loads(path.read_text("utf-8")) for path in sorted(directory.glob("*.json")))
