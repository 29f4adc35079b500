"""Which pass an event of a node belongs to, from the name of its source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from kvtui.samples import Pass

_NAME = re.compile(r"([^:/]+):([^./]+)\.(\d{1,9})/([a-z]+)\.([a-z-]+)")


@dataclass(frozen=True, slots=True)
class PassSource:
    """What ``kvtui.campaign.layout.source`` put into the name of a pass's event file."""

    node: str
    block: str
    attempt: int
    topology: str
    step: Pass


@lru_cache(maxsize=4096)
def pass_source(name: str) -> PassSource | None:
    """The pass that a source belongs to, or ``None`` for a source that is no pass."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    node, block, attempt, topology, step = match.groups()
    try:
        return PassSource(node, block, int(attempt), topology, Pass(step))
    except ValueError:
        return None
