"""What comes with kvtui: its plans, and a recorded run for machines that cannot run an engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kvtui.journal import Event, read_events
from kvtui.plan import Plan
from kvtui.results import Result, result_of

PLANS = Path(__file__).parent / "plans"
DEFAULT_PLAN = PLANS / "lab.toml"
RECORDED = Path(__file__).parent / "recorded" / "lab"


def replay(directory: Path, see: Callable[[Event], None]) -> Result:
    """Tell a recorded run from its events, and return its result, marked as recorded.

    Args:
        directory: Where its plan and its events are.
        see: Called with each event.
    """
    plan = Plan.model_validate_json((directory / "plan.json").read_text(encoding="utf-8"))
    events = read_events(directory / "events.jsonl")
    for event in events:
        see(event)
    note = "Recorded: these figures were measured on another machine, not on this one."
    plan = plan.model_copy(update={"notes": (*plan.notes, note)})
    return result_of(directory.name, plan, events)
