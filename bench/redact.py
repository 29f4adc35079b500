"""Recorded text without what belongs to one machine: its paths, its users, its names."""

from __future__ import annotations

import re
from collections.abc import Mapping

_HOMES = re.compile(r"(?:/root|/home/[\w.-]+|/Users/[\w.-]+)(?=[/\s'\":,)]|$)")
_INTERPRETERS = re.compile(r"/home/user/\.pyenv/versions/(\d+\.\d+)[\d.]*/lib/")


def redact(text: str, names: Mapping[str, str]) -> str:
    """Replace names and paths of a machine.

    Args:
        text: What was recorded.
        names: What else to replace, each by its replacement; longer ones first.
    """
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, names[name])
    return _INTERPRETERS.sub("/usr/lib/", _HOMES.sub("/home/user", text))
