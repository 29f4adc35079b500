"""One check of one node, and how it stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kvtui.findings import Finding, Level


class State(StrEnum):
    """How a check stands; only a failed one stops the launch."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    RUNNING = "running"
    WAITING = "waiting"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"


SIGNS = {
    State.OK: "✓",
    State.WARNING: "!",
    State.FAILED: "✗",
    State.RUNNING: "◐",
    State.WAITING: "·",
    State.UNKNOWN: "?",
    State.SKIPPED: "·",
}


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One check of one node.

    Attributes:
        id: Stable name of the check; with the node it tells the row from all others.
        title: What is checked.
        node: The node; empty for what concerns the plan as a whole.
        state: How it stands.
        measured: What was measured or read, short enough for a column.
        finding: What is to be said of it, or ``None``.
        fix: What kvtui can do about it, in words; empty when only a person can.
    """

    id: str
    title: str
    node: str
    state: State
    measured: str = ""
    finding: Finding | None = None
    fix: str = ""


def state_of(finding: Finding | None) -> State:
    """The state that a finding puts a check into."""
    if finding is None or finding.level is Level.INFO:
        return State.OK
    return State.FAILED if finding.level is Level.BLOCKING else State.WARNING
