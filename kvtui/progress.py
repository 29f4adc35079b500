"""What a person reads while a run goes on, on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

from kvtui.campaign.context import Reporter
from kvtui.campaign.steps import StepKind, steps
from kvtui.eta import in_words, left_s
from kvtui.journal import OWN, Event
from kvtui.plan import Plan

_QUIET_S = 10.0


class Progress:
    """Lines for what happened; on a terminal one changing line for what happens now.

    Args:
        out: Where to write.
        clock: Seconds that only grow.
        wall: Clock time for the lines' stamps.
    """

    def __init__(
        self,
        out: TextIO = sys.stderr,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], time.struct_time] = time.localtime,
    ) -> None:
        self._out = out
        self._clock = clock
        self._wall = wall
        self._live = out.isatty()
        self._shown = False
        self._said_s = -_QUIET_S

    def say(self, text: str) -> None:
        """Something worth a line."""
        self._wipe()
        self._out.write(f"{time.strftime('%H:%M:%S', self._wall())} {text}\n")
        self._out.flush()
        self._said_s = self._clock()

    def phase(self, text: str) -> None:
        """What is happening this second; without a terminal only now and then."""
        if self._live:
            self._wipe()
            self._out.write(f"  {text}"[:100])
            self._out.flush()
            self._shown = True
        elif self._clock() - self._said_s >= _QUIET_S:
            self.say(text)

    def _wipe(self) -> None:
        if self._shown:
            self._out.write("\r\x1b[K")
            self._shown = False


class RunProgress:
    """Turns a run's events into progress, with the time that is left."""

    def __init__(self, plan: Plan, progress: Reporter) -> None:
        self._plan = plan
        self._progress = progress
        self._seen_s: dict[StepKind, list[float]] = {}
        self._done: set[str] = set()
        self._answered: dict[str, int] = {}
        self._requests: dict[str, int] = {}
        self._attempts: dict[str, int] = {}

    def _remaining(self) -> str:
        remaining = [
            step
            for step in steps(self._plan)
            if step.key(self._attempts.get(step.block.name, 1) if step.block else 1) not in self._done
        ]
        return f"about {in_words(left_s(self._plan, remaining, self._seen_s))} left"

    def replay(self, events: tuple[Event, ...]) -> None:
        """Take note of what happened before, without a word."""
        for event in events:
            self._note(event)

    def _note(self, event: Event) -> None:
        match event["kind"]:
            case "step_done":
                self._done.add(event["step"])
                self._seen_s.setdefault(StepKind[event["step_kind"]], []).append(event["seconds"])
            case "block_restarted":
                self._attempts[event["block"]] = self._attempts.get(event["block"], 1) + 1
            case "pass_begin":
                self._requests[event["src"]] = event["requests"]
            case "done" | "failed" if event["src"] != OWN:
                self._answered[event["src"]] = self._answered.get(event["src"], 0) + 1

    def see(self, event: Event) -> None:
        """Tell of an event."""
        self._note(event)
        match event["kind"]:
            case "step_begin":
                self._progress.say(f"{event['words']} ({self._remaining()})")
            case "done" if event["src"] != OWN:
                number, of = self._answered[event["src"]], self._requests.get(event["src"], 0)
                node = event["src"].partition(":")[0]
                self._progress.phase(
                    f"{node}: {number} of {of} answered, the last after {event['ttft_ms']:,.0f} ms"
                )
            case "failed" if event["src"] != OWN:
                node = event["src"].partition(":")[0]
                self._progress.say(f"{node}: a request failed: {event['error']}: {event['detail']}")
