"""Plans for tests."""

from __future__ import annotations

from kvtui.plan import Plan, load_plan
from kvtui.recordings import DEFAULT_PLAN


def lab_plan() -> Plan:
    """The lab's own plan."""
    return load_plan(DEFAULT_PLAN)


LAB_REUSE = {
    ("single", "none"): 0,
    ("single", "dram"): 8,
    ("single", "dram-small"): 0,
    ("single", "disk"): 8,
    ("single", "valkey"): 8,
    ("fleet", "none"): 0,
    ("fleet", "dram"): 0,
    ("fleet", "dram-small"): 0,
    ("fleet", "disk"): 0,
    ("fleet", "valkey"): 8,
}
"""Documents of the lab's own plan that are reused whole, by topology and tier."""
