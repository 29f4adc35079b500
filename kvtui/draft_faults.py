"""What pydantic finds in a draft, as a few words at the field that a person can mend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from kvtui.fault_words import fault_words

COLD, CACHED, STORE = "passes.cold_node", "passes.cached_node", "store.node"
# A sentence about the plan as a whole, by a piece of it, and the field that mends it.
_WHOLE = (
    ("do not fit max_model_len", "corpus.tokens"),
    ("add no whole chunk", "corpus.tokens"),
    ("a fleet needs two nodes", CACHED),
    ("fleet_cold", "passes.fleet_cold"),
    ("needs a [store]", STORE),
)


def faults_of(error: ValidationError, tiers: Sequence[int], values: Mapping[str, str]) -> dict[str, str]:
    """The first fault of each field.

    Args:
        error: What was found.
        tiers: Keys of the tiers that are in the plan, in order.
        values: The draft's texts.
    """
    found: dict[str, str] = {}
    for fault in error.errors(include_url=False):
        found.setdefault(_field(fault, tiers, values), _words(fault))
    return found


def _field(fault: ErrorDetails, tiers: Sequence[int], values: Mapping[str, str]) -> str:
    match fault["loc"]:
        case ("tiers", int(at)) if at < len(tiers):
            return f"tiers.{tiers[at]}"
        case ("tiers", int(at), name, *_) if at < len(tiers):
            return f"tiers.{tiers[at]}.{name}"
        case ("hash", "seed_on", node, *rest):
            role = "cold" if values[COLD] == node else "cached"
            return f"passes.{role}_node" if "[key]" in rest else f"seed.{role}"
        case ("nodes", node, *rest):
            return _of_node(str(node), values, named="[key]" in rest)
        case ("passes", "topologies", *_):
            return "passes.single"
        case (part, name, *_):
            return f"{part}.{name}"
        case ():
            return _whole(str(fault["msg"]), values)
        case place:
            return str(place[0])


def _of_node(node: str, values: Mapping[str, str], *, named: bool) -> str:
    for role, name in (("cold", COLD), ("cached", CACHED), ("store", STORE)):
        if values[name] == node:
            return name if named else f"ssh.{role}"
    return ""


def _whole(text: str, values: Mapping[str, str]) -> str:
    for piece, name in _WHOLE:
        if piece in text:
            return name
    for name in (COLD, CACHED, STORE):
        if f'node "{values[name]}" has no' in text:
            return name
    return ""


def _words(fault: ErrorDetails) -> str:
    words = fault_words(fault)
    return "there is no such node: type its ssh beside it" if "has no [nodes." in words else words
