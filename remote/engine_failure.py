"""Why an engine did not start, in one sentence from its log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_PROCESS = re.compile(r"^\([\w.:-]+ pid=\d+\) ?")
_EXCEPTION = re.compile(
    r"^(?:ERROR \S+ \S+ \[[^\]]+\] )?"
    r"(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt))(?::\s*(?P<text>.*))?$"
)
_FRAME = re.compile(r"^(?:(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \S+ \S+ \[[^\]]+\] )?(?:Traceback \(|\s|$)")
_ADDRESS = re.compile(r"(?i)address already in use")
_USAGE = re.compile(r"^\S+\.py: error: (?P<text>.+)$")
_WRAPPERS = ("Engine core initialization failed", "EngineCore encountered an issue", "Failed core proc")
_KEPT_LINES = 5


@dataclass(frozen=True, slots=True)
class Cause:
    """The first thing that went wrong.

    Attributes:
        sentence: What it was, without a full stop.
        lines: The log's lines around it.
    """

    sentence: str
    lines: tuple[str, ...]


def _around(lines: Sequence[str], index: int) -> tuple[str, ...]:
    """The lines up to one, without the frames of tracebacks: the whole log has them."""
    before = (line for line in lines[: index + 1] if not _FRAME.match(_PROCESS.sub("", line)))
    return tuple(before)[-_KEPT_LINES:]


def root_cause(lines: Sequence[str]) -> Cause:
    """The root cause in an engine's log.

    The first exception that is not one of vLLM's wrappers around another (vLLM 0.28.0 ``v1/engine/utils.py``)
    comes before everything that follows from it.

    Args:
        lines: The log's lines, without terminal escapes.
    """
    for index, line in enumerate(lines):
        text = _PROCESS.sub("", line)
        if match := _USAGE.match(text):
            return Cause(match["text"], _around(lines, index))
        if _ADDRESS.search(text):
            return Cause("a port that it needs is taken", _around(lines, index))
        match = _EXCEPTION.match(text)
        if match and not any(wrapper in text for wrapper in _WRAPPERS):
            said = (match["text"] or "").strip()
            kind = match["type"].rsplit(".", 1)[-1]
            return Cause(f"{kind}: {said}" if said else kind, _around(lines, index))
    last = [line for line in lines if line.strip()][-_KEPT_LINES:]
    if not last:
        return Cause("it wrote nothing to its log", ())
    return Cause(f"its last line is: {_PROCESS.sub('', last[-1]).strip()}", tuple(last))
