"""Whether a run's record is whole: every event once and nothing missing, whatever happened to kvtui."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kvtui.campaign.steps import steps
from kvtui.journal import OWN, Event, read_events
from kvtui.record import RunRecord
from kvtui.run_state import state_of
from kvtui.samples import Pass, samples_of


def _twice(name: str, keys: Sequence[object]) -> Iterator[str]:
    for key, count in Counter(keys).items():
        if count > 1:
            yield f"{name} {key} is there {count} times"


def _gaps(events: Sequence[Event]) -> Iterator[str]:
    reached: dict[str, int] = {}
    for event in events:
        if event["src"] == OWN:
            continue
        if event["off"] != reached.get(event["src"], 0):
            yield f"{event['src']}: byte {event['off']} follows on {reached.get(event['src'], 0)}"
        reached[event["src"]] = event["end"]


def problems(record: RunRecord) -> tuple[str, ...]:
    """What is wrong with the record of a run that should be done; nothing when it is whole."""
    events = read_events(record.events)
    plan = record.plan()
    found = list(_gaps(events))
    found += _twice("step_done", [event["step"] for event in events if event["kind"] == "step_done"])
    found += _twice("sample", [event["request_id"] for event in events if event["kind"] == "sample"])
    found += _twice("end", [event["request_id"] for event in events if event["kind"] in ("done", "failed")])
    if state_of(events)[0] != "done":
        found.append(f"the run is {state_of(events)}")
    last_tries = {event["block"]: 1 for event in events if event["kind"] == "engine_planned"}
    for event in events:
        if event["kind"] == "block_restarted":
            last_tries[event["block"]] += 1
    done = {event["step"] for event in events if event["kind"] == "step_done"}
    for step in steps(plan):
        if step.key(last_tries.get(step.block.name, 1) if step.block else 1) not in done:
            found.append(f"step {step.words()} is not done")
    measured = Counter(
        (sample.tier, sample.repeat, sample.topology, sample.step)
        for sample in samples_of(events)
        if sample.step in (Pass.COLD, Pass.CACHED) and sample.ttft_ms is not None
    )
    for place, count in measured.items():
        if count != plan.corpus.documents:
            found.append(f"{place} has {count} samples, not {plan.corpus.documents}")
    if not measured:
        found.append("there is no sample")
    return tuple(found)
