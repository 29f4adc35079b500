"""What can be mended for the person: a plan changed as a finding asks for, and said in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from kvtui.check.assessment import TierFit
from kvtui.check.fit_check import tier_fit
from kvtui.check.known import Known
from kvtui.check.sizes import shape_of
from kvtui.check.words import number
from kvtui.errors import PlanError
from kvtui.findings import Finding
from kvtui.plan import Plan, Tier, validated

_LEAST_CHUNK = 16


@dataclass(frozen=True, slots=True)
class Fix:
    """A plan that is mended.

    Attributes:
        words: What the fix does.
        plan: The plan with it.
    """

    words: str
    plan: Plan


def fix(plan: Plan, known: Known, finding: Finding) -> Fix | None:
    """The fix of one finding, or ``None`` where only a person can mend it.

    Args:
        plan: The plan that was assessed.
        known: What was known then.
        finding: One of the assessment's findings.
    """
    mend = _MENDS.get(finding.code)
    if mend is None:
        return None
    try:
        return mend(plan, known, finding)
    except PlanError:
        return None


def _changed(plan: Plan, part: str, **fields: Any) -> Plan:
    inner: BaseModel = getattr(plan, part)
    return validated(plan.model_copy(update={part: inner.model_copy(update=fields)}))


def _with_tier(plan: Plan, changed: Tier) -> Plan:
    tiers = tuple(changed if tier.name == changed.name else tier for tier in plan.tiers)
    return validated(plan.model_copy(update={"tiers": tiers}))


def _fit_of(plan: Plan, known: Known, finding: Finding) -> tuple[Tier, TierFit] | None:
    sized = shape_of(plan, known)
    for tier in plan.tiers:
        if tier.name == finding.where:
            return tier, tier_fit(plan, tier, sized[0] if sized else None, known)
    return None


def _resized(plan: Plan, tier: Tier, capacity_gib: float, why: str) -> Fix:
    words = f"Set {tier.name} from {number(tier.capacity_gib or 0.0)} to {number(capacity_gib)} GiB, {why}."
    return Fix(words, _with_tier(plan, tier.model_copy(update={"capacity_gib": capacity_gib})))


def _raise_capacity(plan: Plan, known: Known, finding: Finding) -> Fix | None:
    found = _fit_of(plan, known, finding)
    if found is None:
        return None
    tier, fit = found
    limit, smallest = fit.limit_gib, fit.smallest_gib
    if not smallest or (limit is not None and smallest > limit) or smallest <= (tier.capacity_gib or 0.0):
        return None
    return _resized(plan, tier, smallest, "the least that keeps every document")


def _lower_capacity(plan: Plan, known: Known, finding: Finding) -> Fix | None:
    found = _fit_of(plan, known, finding)
    if found is None:
        return None
    tier, fit = found
    limit, smallest = fit.limit_gib, fit.smallest_gib
    if not limit or limit >= (tier.capacity_gib or 0.0):
        return None
    if smallest and smallest <= limit:
        return _resized(plan, tier, smallest, "the least that keeps every document")
    return _resized(plan, tier, limit, "the most that leaves a tenth free; it keeps not every document")


def _one_seed(plan: Plan, known: Known, finding: Finding) -> Fix:
    return Fix('Set PYTHONHASHSEED to "0" on every node.', _changed(plan, "hash", seed="0", seed_on={}))


def _named_algorithm(plan: Plan, known: Known, finding: Finding) -> Fix:
    return Fix(
        "Set the hash algorithm to sha256_cbor, which no Python version changes.",
        _changed(plan, "hash", algorithm="sha256_cbor"),
    )


def _shorter_chunk(plan: Plan, known: Known, finding: Finding) -> Fix | None:
    chunk = plan.hash.chunk_tokens
    while chunk > plan.corpus.prompt_tokens:
        chunk //= 2
    return _chunk(plan, chunk)


def _smaller_values(plan: Plan, known: Known, finding: Finding) -> Fix | None:
    sized, limit = shape_of(plan, known), known.store.proto_max_bulk_bytes if known.store else None
    if sized is None or limit is None:
        return None
    chunk = plan.hash.chunk_tokens
    while chunk >= _LEAST_CHUNK and sized[0].chunk_bytes(chunk) > limit:
        chunk //= 2
    return _chunk(plan, chunk)


def _chunk(plan: Plan, chunk: int) -> Fix | None:
    if chunk < _LEAST_CHUNK:
        return None
    words = f"Set chunk_tokens from {plan.hash.chunk_tokens:,} to {chunk:,}."
    return Fix(words, _changed(plan, "hash", chunk_tokens=chunk))


_MENDS: dict[str, Callable[[Plan, Known, Finding], Fix | None]] = {
    "capacity-too-small": _raise_capacity,
    "capacity-beyond-ram": _lower_capacity,
    "capacity-beyond-disk": _lower_capacity,
    "capacity-leaves-little-ram": _lower_capacity,
    "capacity-leaves-little-disk": _lower_capacity,
    "hash-seed-differs": _one_seed,
    "hash-seed-free": _one_seed,
    "hash-builtin": _named_algorithm,
    "shorter-than-a-chunk": _shorter_chunk,
    "store-bulk-limit": _smaller_values,
}
