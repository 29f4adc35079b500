"""Why an engine did not start, or died later, in one sentence from its log."""

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
# Of vLLM 0.28.0: the core says this of its own exception (v1/engine/core.py) ...
_CORE_FATAL = "EngineCore encountered a fatal error"
# ... and this is all that the API server says when the core went without a word (v1/engine/exceptions.py).
_CORE_GONE = "EngineCore encountered an issue"
_SERVING = "Application startup complete"


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


def death_cause(lines: Sequence[str]) -> Cause:
    """Why an engine that served has ended: what a request or the start complained of before does not count.

    Args:
        lines: The log's lines, without terminal escapes.
    """
    starts = [index for index, line in enumerate(lines) if _SERVING in line]
    fatal = [index for index, line in enumerate(lines) if _CORE_FATAL in line]
    since = lines[fatal[0] if fatal else starts[-1] + 1 if starts else 0 :]
    if not any(line.strip() for line in since):
        return Cause("its log says nothing of it", ())
    gone = next((index for index, line in enumerate(since) if _CORE_GONE in line), None)
    if fatal or gone is None:
        return root_cause(since)
    sentence = "its core process went without a word, as when it is killed or the memory runs out"
    return Cause(sentence, _around(since, gone))
