"""The time in a log line."""

from __future__ import annotations

import re
from collections.abc import Sequence

# LMCache writes 2026-11-29 17:18:33,958 and vLLM 11-29 17:18:39, both in the node's zone. glide writes UTC,
# so its time is not comparable and is not read.
_STAMP = re.compile(r"(?:\[\d{4}-|(?:INFO|WARNING|ERROR|DEBUG|CRITICAL) )(\d\d-\d\d \d\d:\d\d:\d\d)[ ,]")
_HEAD = 120
_BACK = 100


def stamp(raw: str) -> str:
    """``MM-DD HH:MM:SS`` of a line by the node's clock; empty when it has none."""
    found = _STAMP.search(raw, 0, _HEAD)
    return found[1] if found else ""


def stamp_at(lines: Sequence[str], index: int, before: str) -> str:
    """Time of a line, or of the nearest earlier one that has one; ``before`` is that of earlier batches."""
    for place in range(index, max(index - _BACK, -1), -1):
        if found := stamp(lines[place]):
            return found
    return before
