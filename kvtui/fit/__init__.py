"""Whether the documents fit a tier: what LMCache does with its capacity, not a ratio."""

from kvtui.fit.capacity import GIB, capacity_bytes, least_gib, staging_gib, working_set_bytes
from kvtui.fit.expected import ExpectedReuse, expected_reuse
from kvtui.fit.reuse import (
    Reuse,
    gate_passes,
    kept_chunks,
    plan_reuse,
    plan_scan,
    predict,
    smallest_capacity_bytes,
)
from kvtui.fit.scan import GATE_DOCUMENTS, WARMUP_DOCUMENTS, Scan, pass_order, run_earlier

__all__ = [
    "GATE_DOCUMENTS",
    "GIB",
    "WARMUP_DOCUMENTS",
    "ExpectedReuse",
    "Reuse",
    "Scan",
    "capacity_bytes",
    "expected_reuse",
    "gate_passes",
    "kept_chunks",
    "least_gib",
    "pass_order",
    "plan_reuse",
    "plan_scan",
    "predict",
    "run_earlier",
    "smallest_capacity_bytes",
    "staging_gib",
    "working_set_bytes",
]
