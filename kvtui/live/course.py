"""Where a run stands: its steps, the pass under way, and the time that is left, phase by phase."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from statistics import median

from kvtui.campaign.steps import Step, StepKind, steps
from kvtui.eta import left_s
from kvtui.journal import Event
from kvtui.live.numbers import number, whole
from kvtui.live.standing import Head
from kvtui.plan import Plan
from kvtui.run_state import ENDS

_ATTEMPT = re.compile(r"\.(\d{1,9})(?=/)")


@dataclass(slots=True)
class _Pass:
    """A pass under way: when each of its requests was settled."""

    node: str
    begin_wall_s: float | None
    requests: int | None
    settled: int = 0
    last_wall_s: float | None = None
    took_s: list[float] = field(default_factory=list)

    def settle(self, wall_s: float | None) -> None:
        since = self.begin_wall_s if self.last_wall_s is None else self.last_wall_s
        self.settled += 1
        if wall_s is not None:
            if since is not None and wall_s >= since:
                self.took_s.append(wall_s - since)
            self.last_wall_s = wall_s

    @property
    def goes_on(self) -> bool:
        """Whether a request is still to be settled."""
        return self.requests is None or self.settled < self.requests

    def left_s(self, now_wall_s: float) -> float | None:
        """Median of its own finished requests × what is left, less what the running one has had."""
        if not self.took_s or self.requests is None:
            return None
        each_s = median(self.took_s)
        running_s = 0.0 if self.last_wall_s is None else max(0.0, now_wall_s - self.last_wall_s)
        left = max(0, self.requests - self.settled)
        return max(0.0, left * each_s - min(running_s, each_s))


class Course:
    """Follows a run's steps; every ``take_…`` is given one event of its kind."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._steps = steps(plan)
        self._by_key = {_ATTEMPT.sub("", step.key(1)): step for step in self._steps}
        self._done: set[Step] = set()
        self._seen_s: dict[StepKind, list[float]] = {}
        self._passes: dict[str, _Pass] = {}
        self._begin_wall_s: float | None = None
        self._step_wall_s: float | None = None
        self.run = ""
        self.state, self.reason = "running", ""
        self.end_wall_s: float | None = None
        self.step: Step | None = None

    @property
    def running(self) -> bool:
        """Whether the run is not over."""
        return self.state == "running"

    @property
    def passing(self) -> bool:
        """Whether a pass goes on."""
        return self.running and any(one.goes_on for one in self._passes.values())

    def take(self, event: Event) -> None:
        """Note an event of kvtui itself."""
        wall_s = number(event.get("wall_s"))
        match event["kind"]:
            case "run_begin":
                self.run = str(event["run"])
                self._begin_wall_s = wall_s
            case "attached":
                self.state, self.reason, self.end_wall_s = "running", "", None
            case "step_begin":
                self.step = self._by_key.get(_ATTEMPT.sub("", event["step"]))
                self._step_wall_s = wall_s
                self._passes = {}
            case "step_done":
                seconds, step = number(event["seconds"]), self._by_key.get(_ATTEMPT.sub("", event["step"]))
                if step is not None:
                    self._done.add(step)
                    if seconds is not None:
                        self._seen_s.setdefault(step.kind, []).append(seconds)
                    if self.step == step:
                        self._passes = {}
            case "block_restarted":
                # All of its steps are to be done again.
                self._done = {s for s in self._done if s.block is None or s.block.name != event["block"]}
            case kind if kind in ENDS:
                self.state, self.reason = ENDS[kind], str(event.get("message", ""))
                self.end_wall_s = wall_s

    def begin_pass(self, source: str, node: str, event: Event) -> None:
        """A probe began its pass."""
        self._passes[source] = _Pass(node, number(event.get("wall_s")), whole(event.get("requests")))

    def settle(self, source: str, event: Event) -> None:
        """A request of a pass was answered or failed."""
        if source in self._passes:
            self._passes[source].settle(number(event.get("wall_s")))

    def _step_left_s(self, now_wall_s: float) -> float | None:
        if self.step is None or self.step in self._done:
            return None
        known = [
            left for running in self._passes.values() if (left := running.left_s(now_wall_s)) is not None
        ]
        if known:
            return max(known)
        whole_s = left_s(self._plan, [self.step], self._seen_s)
        gone_s = 0.0 if self._step_wall_s is None else max(0.0, now_wall_s - self._step_wall_s)
        # A step that takes longer than any before it is not about to end: how long it takes is not known.
        return whole_s - gone_s if gone_s < whole_s else None

    def head(self, now_wall_s: float, now: str) -> Head:
        """Where the run stands at a moment."""
        step = self.step if self.running else None
        block = step.block if step else None
        repeats = self._plan.passes.repeats
        running = list(self._passes.values()) if self.running else []
        requests = [one.requests for one in running if one.requests is not None]
        step_left_s = run_left_s = None
        if self.running:
            step_left_s = self._step_left_s(now_wall_s)
            rest = [one for one in self._steps if one not in self._done and one != step]
            run_left_s = (step_left_s or 0.0) + left_s(self._plan, rest, self._seen_s)
        elapsed_s = None if self._begin_wall_s is None else max(0.0, now_wall_s - self._begin_wall_s)
        return Head(
            run=self.run,
            plan=self._plan.name,
            state=self.state,
            reason=self.reason,
            tier=block.tier if block else "",
            topology=step.topology.value if step and step.topology else "",
            repeat=f"repeat {block.repeat} of {repeats}" if block and repeats > 1 else "",
            step=step.kind.value if step else "",
            node=", ".join(sorted({one.node for one in running})),
            answered=sum(one.settled for one in running) if running else None,
            requests=sum(requests) if requests else None,
            share=self._share(elapsed_s, run_left_s),
            elapsed_s=elapsed_s,
            step_left_s=step_left_s,
            run_left_s=run_left_s,
            now=now,
        )

    def _share(self, elapsed_s: float | None, left: float | None) -> float | None:
        if self.state == "done":
            return 1.0
        if elapsed_s is None or left is None or elapsed_s + left <= 0:
            return None
        return elapsed_s / (elapsed_s + left)
