"""What following a run costs: events and log lines a second, and the time of a view.

Usage: ``python -m bench.live_model``
"""

from __future__ import annotations

import time
from collections.abc import Callable

from kvtui.charts import histogram
from kvtui.journal import Event, read_events
from kvtui.live.state import LiveState
from kvtui.palette import Palette
from kvtui.plan import Plan
from kvtui.recordings import RECORDED

_EVENTS = 100_000
_LINES = 50_000
_TICKS_S = 2.0
_LINE = (
    "(EngineCore pid=7) [2026-11-29 21:56:59,{:03d}] LMCache INFO: [req_id=cmpl-r.{}-0-88ff4f34] "
    "Retrieved 9984 out of 9984 required tokens (from 9984 total tokens). "
    "size: 0.5332 gb, cost 154.9000 ms, throughput: 3.44 GB/s; (cache_engine.py:958:lmcache.v1.cache_engine)"
)
_FLOOD = (
    "(EngineCore pid=7) [2026-11-29 21:56:59,{:03d}] LMCache WARNING: "
    "Failed to allocate memory block of size {} because no memory is available "
    "(local_cpu_backend.py:1:lmcache.v1.storage_backend.local_cpu_backend)"
)


def _seconds(work: Callable[[], object]) -> float:
    started_s = time.process_time()
    work()
    return time.process_time() - started_s


def _long_run() -> tuple[Plan, list[Event]]:
    """The recorded run with so many documents that it has 100,000 events."""
    plan = Plan.model_validate_json((RECORDED / "plan.json").read_text(encoding="utf-8"))
    recorded = read_events(RECORDED / "events.jsonl")
    of_request = [event for event in recorded if event["kind"] in ("sent", "first_token", "done", "sample")]
    copies = -(-(_EVENTS - len(recorded)) // len(of_request)) + 1
    events: list[Event] = []
    for event in recorded:
        if event["kind"] not in ("sent", "first_token", "done", "sample"):
            events.append(event)
            continue
        for copy in range(copies):
            events.append(_renamed(event, copy))
    plan = plan.model_copy(
        update={"corpus": plan.corpus.model_copy(update={"documents": plan.corpus.documents * copies})}
    )
    return plan, events


def _renamed(event: Event, copy: int) -> Event:
    more: Event = {"request_id": f"{event['request_id']}-{copy}"}
    if "meta" in event:
        more["meta"] = {"document": f"{event['meta']['document']}-{copy}"}
    else:
        more["document"] = f"{event['document']}-{copy}"
        more["place"] = event["place"] + copy * 8
    if "ttft_ms" in event:
        more["ttft_ms"] = event["ttft_ms"] * (1 + 0.001 * copy)
    return {**event, **more}


def main() -> None:
    """Print the rates; baseline of each is a plain loop over the same things."""
    plan, events = _long_run()
    state = LiveState(plan)
    feed_s = _seconds(lambda: state.feed(events))
    loop_s = _seconds(lambda: [event["kind"] for event in events])
    rate = len(events) / feed_s
    print(
        f"feed       {len(events):>9,} events  {rate:>10,.0f} a second, {feed_s / loop_s:.0f} × a bare loop"
    )
    now_s = events[-1]["wall_s"]
    first_s, again_s = _seconds(lambda: state.view(now_s)), _seconds(lambda: state.view(now_s))
    print(f"view       first {first_s * 1000:.1f} ms, unchanged {again_s * 1000:.1f} ms")
    _while_running(plan, events)
    for name, form in (("flood", _FLOOD), ("figures", _LINE)):
        lines = [form.format(number % 1000, number % 500) for number in range(_LINES)]
        log_s = _seconds(lambda: state.feed_log("gpu-a", f"valkey-single-fleet.1.{name}", 1, lines))  # noqa: B023
        print(f"{name:<10} {_LINES:>9,} lines   {_LINES / log_s:>10,.0f} a second")
    view = state.view(now_s)
    chart_s = _seconds(lambda: [histogram(view.histogram, 78, 14, Palette()) for _ in range(10)]) / 10
    print(f"histogram  {chart_s * 1000:.1f} ms at 78 × 14")


def _while_running(plan: Plan, events: list[Event]) -> None:
    """Views at 2 Hz while events come in: the share of a core that they take, feeding left out."""
    state, views_s, count = LiveState(plan), 0.0, 0
    for start in range(0, len(events), 500):
        state.feed(events[start : start + 500])
        views_s += _seconds(lambda: state.view(events[-1]["wall_s"]))
        count += 1
    each_s = views_s / count
    print(
        f"view       {each_s * 1000:.1f} ms while {500 * _TICKS_S:,.0f} events a second come in: "
        f"{each_s * _TICKS_S * 100:.1f} % of a core at {_TICKS_S:.0f} Hz"
    )


if __name__ == "__main__":
    main()
