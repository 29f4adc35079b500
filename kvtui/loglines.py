"""An engine log's lines, and the figures in those that LMCache writes for a request.

Line formats: LMCache 0.5.3 to 0.5.6 and vLLM 0.26 to 0.32. LMCache's "GB" is GiB.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

GIB = 1024**3

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|.?)")
# What a terminal obeys or a reader cannot see: C0 and C1 controls, and all of Unicode's format characters
# (category Cf), the bidi marks and overrides among them. A tab stays.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f"
    "\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f]"
)
_BROKEN = re.compile("[\ud800-\udfff]")
_SEPARATORS = re.compile("[\n\u2028\u2029]")
_CUT = "…"
_PREFIX = re.compile(r"^\((?P<process>[\w.:-]+) pid=(?P<pid>\d+)\) ?")
_LMCACHE = re.compile(
    r"^\[(?P<stamp>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] LMCache (?P<level>[A-Z]+): (?P<message>.*?)"
    r"(?: \([\w.]+\.py:\d+:[\w.]+\))?$"
)
_VLLM = re.compile(
    r"^(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) (?P<stamp>\d\d-\d\d \d\d:\d\d:\d\d) "
    r"\[[^\]]+\] (?P<message>.*)$"
)
_LOOKUP = re.compile(
    r"^Reqid: (?P<id>\S+), Total tokens (?P<total>\d+), Inference Engine computed tokens: (?P<computed>\d+), "
    r"LMCache hit tokens: (?P<hit>\d+),(?: but)? need to load: (?P<load>\d+)"
)
_RETRIEVE = re.compile(
    r"^\[req_id=(?P<id>[^\]]+)\] Retrieved (?P<got>\d+) out of (?P<required>\d+) required tokens"
    r".*?size: (?P<gib>[\d.]+) gb, cost (?P<ms>[\d.]+) ms"
)
_STORE = re.compile(
    r"^\[req_id=(?P<id>[^\]]+)\] Stored (?P<stored>\d+) out of total (?P<total>\d+) tokens\. "
    r"size: (?P<gib>[\d.]+) GB, cost (?P<ms>[\d.]+) ms"
)
_RECOVERED = re.compile(r"^Recovered from KV load failure: (?P<requests>\d+) request\(s\) rescheduled")


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line, without escapes.

    Attributes:
        text: The whole line as a person may see it.
        level: ``INFO``, ``WARNING`` and so on; empty where the line names none.
        source: ``lmcache``, ``vllm``, or empty.
        message: The line without process, time and level.
        process: The process of the engine that wrote it, such as ``Worker_TP1``; empty where it names none.
    """

    text: str
    level: str
    source: str
    message: str
    process: str = ""


@dataclass(frozen=True, slots=True)
class Lookup:
    """LMCache's answer to how much of a prompt it holds."""

    request_id: str
    total_tokens: int
    computed_tokens: int
    hit_tokens: int
    load_tokens: int


@dataclass(frozen=True, slots=True)
class Retrieve:
    """KV that LMCache read from its tier into the engine; each rank's process writes a line of its own."""

    request_id: str
    retrieved_tokens: int
    required_tokens: int
    size_gib: float
    cost_ms: float
    process: str = ""


@dataclass(frozen=True, slots=True)
class Store:
    """KV of one prefill step that LMCache took over; a long prompt has several, on each rank."""

    request_id: str
    stored_tokens: int
    total_tokens: int
    size_gib: float
    cost_ms: float
    process: str = ""


@dataclass(frozen=True, slots=True)
class LoadRecovered:
    """vLLM recomputed requests whose KV could not be read; it names no request."""

    requests: int


Figures = Lookup | Retrieve | Store | LoadRecovered


def clean(text: str) -> str:
    """The text on one line, without terminal escapes, control characters and invisible marks.

    What is no character (half a surrogate pair) becomes ``�``, an end of line a space.
    """
    if text.isprintable():
        return text
    seen = _ESCAPES.sub("", text.replace("\x9b", "\x1b[").replace("\x9d", "\x1b]"))
    if seen.isprintable():
        return seen
    return _SEPARATORS.sub(" ", _BROKEN.sub("�", _UNSEEN.sub("", seen)))


def shorten(text: str, width: int) -> str:
    """At most ``width`` characters of the text; a cut one ends in ``…``."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + _CUT[:width]


def parse_line(raw: str) -> LogLine:
    """Split a line into its parts; any text is a line."""
    text = clean(raw.rstrip("\r\n"))
    prefix = _PREFIX.match(text)
    process, rest = (prefix["process"], text[prefix.end() :]) if prefix else ("", text)
    if match := _LMCACHE.match(rest):
        return LogLine(text, match["level"], "lmcache", match["message"], process)
    if match := _VLLM.match(rest):
        return LogLine(text, match["level"], "vllm", match["message"], process)
    return LogLine(text, "", "", rest, process)


def figures(line: LogLine) -> Figures | None:
    """The figures in a line, or ``None`` for any other line."""
    message = line.message
    if match := _LOOKUP.match(message):
        total, computed, hit, load = (int(match[name]) for name in ("total", "computed", "hit", "load"))
        return Lookup(match["id"], total, computed, hit, load)
    if match := _RETRIEVE.match(message):
        got, required = int(match["got"]), int(match["required"])
        return Retrieve(match["id"], got, required, float(match["gib"]), float(match["ms"]), line.process)
    if match := _STORE.match(message):
        stored, total = int(match["stored"]), int(match["total"])
        return Store(match["id"], stored, total, float(match["gib"]), float(match["ms"]), line.process)
    if match := _RECOVERED.match(message):
        return LoadRecovered(int(match["requests"]))
    return None


def all_figures(lines: Iterable[str]) -> Iterator[Figures]:
    """The figures in a log, in its order."""
    for raw in lines:
        found = figures(parse_line(raw))
        if found is not None:
            yield found


def client_request_id(engine_id: str) -> str:
    """The id that the client sent, from the one in the engine's lines.

    vLLM makes ``cmpl-ID-0-xxxxxxxx`` of it (vLLM 0.28.0 ``v1/engine/input_processor.py``). An id that is not
    of that form is returned as it is.
    """
    match = re.match(r"^cmpl-(?P<id>.+)-\d+-[0-9a-f]{8}$", engine_id)
    return match["id"] if match else engine_id
