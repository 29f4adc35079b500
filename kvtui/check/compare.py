"""Two plans side by side: every field that differs, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kvtui.check.assess import assess
from kvtui.check.assessment import Assessment
from kvtui.check.known import Known
from kvtui.check.words import gib
from kvtui.plan import Plan, Topology

# What a difference means for the results, by the beginning of the field.
_MEANS = {
    "name": "only the name",
    "notes": "only what a reader is told",
    "lab": "another machine: no figure can be compared",
    "model": "another model: no figure can be compared",
    "corpus.seed": "other documents of the same length",
    "corpus": "another working set",
    "engine.output_tokens": "TTFT is the same question; requests take longer",
    "engine": "the engine computes otherwise, so cold differs too",
    "hash.accept_differing": "whether a fleet that cannot share stops",
    "hash.chunk_tokens": "other chunks: sizes of values and files, and where reuse ends",
    "hash": "whether the nodes make the same keys",
    "nodes": "another machine, or the way to it",
    "store": "another store, or the way to it",
    "passes.order": "which documents a tier that is too small still holds",
    "passes.cold_order": "which places the documents have, not how many are found",
    "passes.shuffle_seed": "which order the shuffle gives",
    "passes.repeats": "how long the run takes, and how well the machine's own changes are told",
    "passes": "what is measured, and on which node",
    "tiers": "what is measured",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that differs.

    Attributes:
        field: Its dotted name; tiers stand by their names.
        a: Its value in the first plan, ``None`` where it has none.
        b: Its value in the second.
        consequence: What follows for the results.
    """

    field: str
    a: str | None
    b: str | None
    consequence: str


def compare(a: Plan, b: Plan, known: Known) -> tuple[Difference, ...]:
    """Every field that differs, in the order of the first plan, then what only the second has."""
    values_a, values_b = fields_of(a), fields_of(b)
    both = assess(a, known), assess(b, known)
    return tuple(
        Difference(field, values_a.get(field), values_b.get(field), _consequence(field, *both))
        for field in dict.fromkeys((*values_a, *values_b))
        if values_a.get(field) != values_b.get(field)
    )


def fields_of(plan: Plan) -> dict[str, str]:
    """Every field that has a value, by its dotted name."""
    return dict(_walk("", plan.model_dump(mode="json")))


def _walk(place: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _walk(f"{place}.{name}" if place else name, inner)
    elif place == "tiers":
        for tier in value:
            yield from _walk(f"tiers.{tier['name']}", {k: v for k, v in tier.items() if k != "name"})
    elif place == "hash.seed" or place.startswith("hash.seed_on."):
        yield place, "unset" if value is None else value or "empty"
    elif isinstance(value, list):
        yield place, ", ".join(map(str, value))
    elif value is not None:
        yield place, _number(value) if isinstance(value, float) else str(value)


def _number(value: float) -> str:
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def _consequence(field: str, a: Assessment, b: Assessment) -> str:
    if field.startswith("tiers."):
        told = _tier(field.split(".")[1], a, b)
        if told:
            return told
    if field.startswith("corpus.") and field != "corpus.seed" and a.kv and b.kv:
        return f"working set {_arrow(gib(a.kv.working_set_bytes), gib(b.kv.working_set_bytes))}"
    if field.startswith("hash.seed") and a.sharing and b.sharing:
        return f"nodes share: {_arrow(a.sharing.verdict, b.sharing.verdict)}"
    if field.endswith(".hourly_price"):
        return "only the cost"
    known = max((name for name in _MEANS if (field + ".").startswith(name + ".")), key=len, default="")
    return _MEANS.get(known, "")


def _arrow(a: str, b: str) -> str:
    return f"{a} in both" if a == b else f"{a} → {b}"


def _tier(name: str, a: Assessment, b: Assessment) -> str:
    fits = [fit for one in (a, b) for fit in one.fits if fit.tier == name]
    if len(fits) < 2:
        return "only one plan measures this tier"
    for topology in Topology:
        reuse = [str(fit.reuse[topology]) for fit in fits if topology in fit.reuse]
        if len(reuse) == 2:
            return f"keeps {_arrow(*reuse)} ({topology})"
    return ""
