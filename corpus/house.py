"""The house style of a document: which of several usual words its author keeps to.

Two leases by two firms say the same things in other words. Within a document the choice never changes.
"""

from __future__ import annotations

from collections.abc import Callable

from corpus.dice import Dice
from corpus.draft import Draft
from corpus.grammar import rules
from corpus.voice import Voice

_NUMBERS = {"law": ("words", "both", "digits"), "medicine": ("digits", "digits", "words")}


def author(dice: Dice, field: str, kind: str, *files: str) -> tuple[Voice, Draft]:
    """A voice over the rule files, and a draft to write on, both in a style of their own.

    Args:
        dice: What decides.
        field: ``law`` or ``medicine``.
        kind: Name of the rule of ``house.txt`` with the words of the kind.
        files: The rule files.
    """
    numbers = dice.pick(_NUMBERS[field])
    return Voice(rules(*files), dice, {}, numbers), Draft(dice, _style(dice, kind))


def _style(dice: Dice, kind: str) -> Callable[[str], str]:
    """Replaces the first word of each line of the kind's rule by one of the line."""
    pairs: list[tuple[str, str]] = []
    for template in rules("house")[f"house_{kind}"]:
        # A line reads "shall|must|will" or, for words that go together, "Landlord,Tenant|Lessor,Lessee".
        variants = [variant.split(",") for variant in str(template[0]).split("|")]
        chosen = dice.pick(variants)
        pairs += [(old, new) for old, new in zip(variants[0], chosen, strict=True) if old != new]

    def apply(text: str) -> str:
        for old, new in pairs:
            if old in text:
                text = text.replace(old, new)
        return text

    return apply
