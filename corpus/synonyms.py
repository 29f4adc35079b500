"""Phrases that mean the same anywhere, so that any sentence may use either.

They make the difference between two documents of a kind where their facts do not, for tokenizers whose chunks
are only a few hundred characters long.
"""

from __future__ import annotations

import re

_GROUPS = (
    ("if", "where"),
    ("unless", "except where"),
    ("before", "prior to"),
    ("after", "following"),
    ("at least", "not less than", "no fewer than"),
    ("not more than", "at most", "up to"),
    ("other than", "apart from"),
    ("during", "in the course of"),
    ("in respect of", "as regards", "in relation to"),
    ("for the purposes of", "for the purpose of"),
    ("under clause", "pursuant to clause", "in accordance with clause"),
    ("under section", "pursuant to section", "in accordance with section"),
    ("by reason of", "on account of"),
    ("together with", "along with"),
    ("whether or not", "irrespective of whether"),
    ("such as", "for example"),
    ("in particular", "notably"),
    ("in addition", "besides"),
    ("so far as", "to the extent that"),
    ("is considered", "is regarded"),
    ("relates to", "concerns"),
    ("at once", "immediately", "forthwith"),
    ("required by", "called for by"),
    ("provided that", "on condition that"),
    ("carried out", "performed", "done"),
    ("a person who", "any person who", "anyone who"),
    ("in force", "in effect"),
    ("the whole of", "all of"),
    ("as soon as", "once"),
    ("reported", "notified"),
    ("was found", "was seen"),
    ("showed", "revealed", "disclosed"),
)
_CHOICES = {group[0]: f"[{'|'.join(group)}]" for group in _GROUPS}
_PATTERN = re.compile(r"(?<![\w\[|])(" + "|".join(sorted(_CHOICES, key=len, reverse=True)) + r")(?![\w|\]])")


def vary(template: str) -> str:
    """The template with a choice in place of each phrase that has synonyms.

    Phrases that stand within a choice already are left alone, and so are holes.
    """
    parts = re.split(r"(\{[^}]*\}|\[[^\[\]]*\])", template)
    return "".join(
        part if part.startswith(("{", "[")) else _PATTERN.sub(lambda match: _CHOICES[match[1]], part)
        for part in parts
    )
