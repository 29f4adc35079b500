"""A log line on the screen: a sign, the time, the message or its figures; what all repeat is left out."""

from __future__ import annotations

import re

from kvtui.live.told import LogRow
from kvtui.loglines import LogLine, Lookup, Retrieve, Store, client_request_id, figures

WARNING, ERROR = "!", "✗"
_SIGNS = {"WARN": WARNING, "WARNING": WARNING, "ERROR": ERROR, "CRITICAL": ERROR}
_TIME = 12

# "(EngineCore pid=7) [2026-11-29 18:12:41,204] LMCache INFO: message (file.py:1:module)", LMCache 0.5.x;
# "(APIServer pid=7) INFO 11-29 18:12:41 [file.py:1] message", vLLM 0.26 to 0.32; "INFO: message", uvicorn.
_LINE = re.compile(
    r"^(?:\([\w.:-]+ pid=\d+\) ?)?"
    r"(?:\[\d{4}-\d\d-\d\d (?P<time>\d\d:\d\d:\d\d),(?P<milli>\d{3})\] LMCache [A-Z]+: "
    r"|[A-Z]+ \d\d-\d\d (?P<second>\d\d:\d\d:\d\d) \[[^\]]+\] |INFO: +)"
    r"(?P<message>.*?)(?: \([\w.]+\.py:\d+:[\w.]+\))?$"
)


def shown(row: LogRow) -> str:
    """The line as the log panel shows it."""
    sign = _SIGNS.get(row.level, " ")
    match = _LINE.match(row.text)
    if match is None:
        return f"{sign} {row.text}"
    time = f"{match['time']}.{match['milli']}" if match["time"] else match["second"] or ""
    return f"{sign} {time:<{_TIME}}  {_short(match['message'])}"


def _short(message: str) -> str:
    """A line that LMCache writes for a request, in its figures; any other as it is."""
    found = figures(LogLine(message, "", "", message)) if message[:1] in "R[" else None
    if isinstance(found, Lookup):
        return (
            f"Lookup     {_request(found.request_id)}  {found.total_tokens:,} tokens  "
            f"hit {found.hit_tokens:,}  load {found.load_tokens:,}"
        )
    if isinstance(found, Retrieve):
        tokens = f"{found.retrieved_tokens:,} of {found.required_tokens:,}"
        return f"Retrieved  {_request(found.request_id)}  {tokens}{_cost(found.size_gib, found.cost_ms)}"
    if isinstance(found, Store):
        tokens = f"{found.stored_tokens:,} of {found.total_tokens:,}"
        return f"Stored     {_request(found.request_id)}  {tokens}{_cost(found.size_gib, found.cost_ms)}"
    return message


def _cost(size_gib: float, cost_ms: float) -> str:
    rate = f"  {size_gib / cost_ms * 1000:.2f} GiB/s" if cost_ms > 0 else ""
    return f"  {size_gib:.4f} GiB  {cost_ms:.1f} ms{rate}"


def _request(engine_id: str) -> str:
    """Pass and document of one of kvtui's own requests; any other id as it is."""
    client = client_request_id(engine_id)
    parts = client.split(".")
    return f"{parts[4]} {parts[6]}" if len(parts) == 7 else client
