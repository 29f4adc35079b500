"""What the engine and the store counted over one pass, from a reading before it and one after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Values = Mapping[str, float | str | None]


def delta(before: Values, after: Values, name: str) -> float | None:
    """By how much a counter rose; ``None`` when it is absent or was reset."""
    first, last = before.get(name), after.get(name)
    if not isinstance(first, int | float) or not isinstance(last, int | float) or last < first:
        return None
    return last - first


def grown(before: Values, after: Values, name: str) -> int | None:
    """The same as a whole number."""
    growth = delta(before, after, name)
    return None if growth is None else int(growth)


@dataclass(frozen=True, slots=True)
class EngineTimes:
    """Sums of times over the requests of a pass, by the engine's own clocks, in milliseconds.

    vLLM takes ``prefill`` from the start of the step in which its scheduler asks LMCache for the prompt until
    the first token is made, so it holds lookup, retrieve and compute (0.28.0 ``v1/core/sched/scheduler.py``,
    ``v1/metrics/stats.py``). ``http`` is the API server's own, from a request's head to its answer's end.

    Attributes:
        ttft_ms: From the request's arrival behind HTTP until its first token is on its way out.
        queue_ms: Waiting to be scheduled.
        prefill_ms: From then to the first token.
        e2e_ms: From arrival to the last token.
        http_ms: The whole request as the API server saw it.
    """

    ttft_ms: float
    queue_ms: float
    prefill_ms: float
    e2e_ms: float
    http_ms: float

    @property
    def front_ms(self) -> float:
        """HTTP on both ends, outside the engine's own clock."""
        return self.http_ms - self.e2e_ms


_TIMES = ("ttft", "queue", "prefill", "e2e", "http")


def engine_times(before: Values, after: Values, requests: int) -> EngineTimes | None:
    """The engine's times of a pass; ``None`` unless each counted exactly its requests.

    A sum that lags, was reset or holds somebody else's requests has another count.

    Args:
        before: Counters before the pass.
        after: The same after it.
        requests: How many it sent.
    """
    found = {}
    for name in _TIMES:
        seconds, count = delta(before, after, f"{name}_s"), delta(before, after, f"{name}_count")
        if seconds is None or count != requests:
            return None
        found[f"{name}_ms"] = seconds * 1000
    return EngineTimes(**found)


@dataclass(frozen=True, slots=True)
class StoreCounts:
    """What the store counted over a pass, for all its clients together.

    Attributes:
        get_calls: Calls of GET.
        net_out_bytes: Bytes that it sent.
        seconds: Time between the two readings.
    """

    get_calls: int
    net_out_bytes: int
    seconds: float


def store_counts(before: Values, after: Values) -> StoreCounts | None:
    """The store's counts of a pass; ``None`` when it said nothing, or was started anew."""
    calls = grown(before, after, "store_get_calls")
    sent = grown(before, after, "store_net_out_bytes")
    seconds = delta(before, after, "store_wall_s")
    if calls is None or sent is None or seconds is None:
        return None
    if before.get("store_run_id") != after.get("store_run_id"):
        return None
    return StoreCounts(calls, sent, seconds)
