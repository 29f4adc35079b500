"""A recorded run as one of several repeats: its events once a repeat, under the names of that repeat."""

from __future__ import annotations

import json
import re

from kvtui.campaign.steps import blocks
from kvtui.journal import Event
from kvtui.plan import Plan
from tests.kvtui.knowing import changed


def repeated(plan: Plan, events: tuple[Event, ...], repeats: int) -> tuple[Plan, tuple[Event, ...]]:
    """A plan of so many repeats, and a run of it whose repeats are all like the recorded run."""
    names = sorted((block.name for block in blocks(plan)), key=len, reverse=True)
    word = re.compile("|".join(rf"(?<![\w-]){re.escape(name)}(?=\.\d|\")" for name in names))
    begin, rest = events[0], [event for event in events[1:] if event["kind"] != "run_done"]
    length_s = events[-1]["wall_s"] - begin["wall_s"]
    found: list[Event] = [begin]
    for repeat in range(1, repeats + 1):
        for event in rest:
            if repeat > 1 and re.match(r"prepare|finish", str(event.get("step", ""))):
                continue
            text = json.dumps(event)
            copy: Event = json.loads(word.sub(rf"\g<0>-r{repeat}", text)) if repeat > 1 else dict(event)
            copy["wall_s"] = event["wall_s"] + (repeat - 1) * length_s
            if copy["kind"] == "sample":
                copy["repeat"] = repeat
            found.append(copy)
    ended = {"v": 1, "src": "kvtui", "wall_s": found[-1]["wall_s"], "kind": "run_done"}
    return changed(plan, passes={"repeats": repeats}), (*found, ended)
