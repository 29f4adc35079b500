"""Phrases that mean the same anywhere, so that any sentence may use either.

They make the difference between two documents of a kind where their facts do not, for tokenizers whose chunks
are only a few hundred characters long.
"""

from __future__ import annotations

import re

_GROUPS = (
    ("at least", "not less than"),
    ("not more than", "at most", "up to"),
    ("other than", "apart from"),
    ("during", "in the course of"),
    ("in respect of", "as regards", "in relation to"),
    ("together with", "along with"),
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
    ("the whole of", "all of"),
    ("as soon as", "once"),
    ("reported", "notified"),
    ("was found", "was seen"),
    ("showed", "revealed", "disclosed"),
)
_LAW_GROUPS = (
    ("if", "where"),
    ("unless", "except where"),
    ("under clause", "pursuant to clause", "in accordance with clause"),
    ("under section", "pursuant to section", "in accordance with section"),
    ("for the purposes of", "for the purpose of"),
    ("by reason of", "on account of"),
    ("whether or not", "irrespective of whether"),
    ("in force", "in effect"),
    ("a person who", "any person who", "anyone who"),
)
_LAW_FILES = ("law", "lease", "spa", "statute", "notice")
_CHOICES = {group[0]: f"[{'|'.join(group)}]" for group in (*_GROUPS, *_LAW_GROUPS)}


def _pattern(groups: tuple[tuple[str, ...], ...]) -> re.Pattern[str]:
    phrases = sorted((group[0] for group in groups), key=len, reverse=True)
    return re.compile(rf"\b({'|'.join(phrases)})\b")


_ANYWHERE = _pattern(_GROUPS)
_IN_LAW = _pattern((*_GROUPS, *_LAW_GROUPS))


def vary(template: str, file: str) -> str:
    """The template with a choice in place of each phrase that has synonyms in a file of that name.

    Phrases that stand within a choice already are left alone, and so are holes.
    """
    pattern = _IN_LAW if file in _LAW_FILES else _ANYWHERE
    parts = re.split(r"(\{[^}]*\}|\[[^\[\]]*\])", template)
    return "".join(
        part if part.startswith(("{", "[")) else pattern.sub(lambda match: _CHOICES[match[1]], part)
        for part in parts
    )
