"""Plans for tests."""

from __future__ import annotations

from kvtui.plan import Plan, load_plan
from kvtui.recordings import DEFAULT_PLAN


def lab_plan() -> Plan:
    """The lab's own plan."""
    return load_plan(DEFAULT_PLAN)
