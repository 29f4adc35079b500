"""How a run stands, by its events alone."""

from __future__ import annotations

from collections.abc import Iterable

from kvtui.journal import Event

ENDS = {"run_done": "done", "run_failed": "failed", "run_stopped": "stopped"}


def state_of(events: Iterable[Event]) -> tuple[str, str]:
    """State of a run and its reason; an attach after a failure makes it ``running`` again."""
    state, reason = "running", ""
    for event in events:
        if event["kind"] in ENDS:
            state, reason = ENDS[event["kind"]], event.get("message", "")
        elif event["kind"] == "attached":
            state, reason = "running", ""
    return state, reason
