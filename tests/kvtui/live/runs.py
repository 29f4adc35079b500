"""Runs to follow: recorded ones, and one that is made up event by event."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kvtui.campaign.layout import request_id, source
from kvtui.journal import Event, read_events
from kvtui.live.state import LiveState
from kvtui.live.view import LiveView
from kvtui.plan import Plan
from kvtui.recordings import RECORDED
from kvtui.samples import Pass

RUNS = Path(__file__).parents[2] / "data" / "runs"
RUN = "261129-120000-abcd"


def recorded(directory: Path = RECORDED) -> tuple[Plan, tuple[Event, ...]]:
    """The plan and the events of a recorded run."""
    plan = Plan.model_validate_json((directory / "plan.json").read_text(encoding="utf-8"))
    return plan, read_events(directory / "events.jsonl")


def small_plan(documents: int = 8, **more: Any) -> Plan:
    """A plan of one node with every kind of tier."""
    tiers = [
        {"name": "none", "kind": "none"},
        {"name": "dram", "kind": "dram", "capacity_gib": 1.0},
        {"name": "disk", "kind": "disk", "capacity_gib": 1.0, "path": "/mnt/kv"},
        {"name": "valkey", "kind": "valkey", "capacity_gib": 1.0},
    ]
    data = {
        "name": "small",
        "model": {"path": "tiny", "served_name": "tiny"},
        "corpus": {"documents": documents, "tokens": 2064},
        "nodes": {"gpu-a": {"ssh": "a"}, "kv": {"ssh": "kv"}},
        "store": {"node": "kv", "address": "10.0.0.9"},
        "passes": {"topologies": ["single"]},
        "tiers": tiers,
        **more,
    }
    return Plan.model_validate(data)


class Run:
    """Writes a run's events with a clock of its own, and feeds them to a state at once."""

    def __init__(self, plan: Plan | None = None) -> None:
        self.plan = plan or small_plan()
        self.state = LiveState(self.plan)
        self.now_s = 1_795_000_000.0
        self.events: list[Event] = []
        self.own("run_begin", run=RUN, plan=self.plan.name)

    def _add(self, event: Event) -> None:
        self.events.append(event)
        self.state.feed([event])

    def own(self, kind: str, **fields: Any) -> None:
        """An event of kvtui itself."""
        self._add({"v": 1, "src": "kvtui", "wall_s": self.now_s, "kind": kind, **fields})

    def step(self, tier: str, rest: str, attempt: int = 1) -> None:
        """A step begins."""
        self.own("step_begin", step=f"{tier}-single.{attempt}/{rest}", words=rest)

    def step_done(self, tier: str, rest: str, kind: str, seconds: float, attempt: int = 1) -> None:
        """A step is done."""
        step = f"{tier}-single.{attempt}/{rest}"
        self.own("step_done", step=step, step_kind=kind, seconds=seconds, record={})

    def source(self, tier: str, step: Pass, attempt: int = 1) -> str:
        """Name of a pass's event file."""
        return source("gpu-a", f"{tier}-single", attempt, "single", step)

    def id(self, tier: str, step: Pass, document: int, attempt: int = 1) -> str:
        """Id of a request."""
        return request_id(RUN, f"{tier}-single", attempt, "single", step, "gpu-a", f"doc-{document}")

    def of_node(self, src: str, kind: str, **fields: Any) -> None:
        """An event of a probe."""
        self._add({"v": 1, "src": src, "wall_s": self.now_s, "kind": kind, "off": 0, "end": 1, **fields})

    def answer(self, tier: str, step: Pass, document: int, ttft_ms: float, attempt: int = 1) -> None:
        """A request from sending to its end, in as much time as it took."""
        src = self.source(tier, step, attempt)
        about = {
            "request_id": self.id(tier, step, document, attempt),
            "meta": {"document": f"doc-{document}"},
            "attempt": 1,
        }
        self.of_node(src, "sent", **about)
        self.now_s += ttft_ms / 1000
        self.of_node(src, "first_token", ttft_ms=ttft_ms, **about)
        done = {"ttft_ms": ttft_ms, "total_ms": ttft_ms + 1, "prompt_tokens": 2064, "cached_tokens": 0}
        self.of_node(src, "done", **about, **done)

    def judge(
        self, tier: str, step: Pass, document: int, ttft_ms: float | None, verdict: str = "none", **more: Any
    ) -> None:
        """The verdict on a request."""
        reused = {"full": 2048, "partial": 256, "none": 0}.get(verdict)
        fields: dict[str, Any] = {
            "request_id": self.id(tier, step, document, more.get("attempt", 1)),
            "tier": tier,
            "block": f"{tier}-single",
            "attempt": 1,
            "topology": "single",
            "step": step.value,
            "document": f"doc-{document}",
            "place": document + 1,
            "node": "gpu-a",
            "ttft_ms": ttft_ms,
            "prompt_tokens": None if ttft_ms is None else 2064,
            "reusable_tokens": 2048,
            "reused_tokens": reused,
            "verdict": verdict,
            "reason": "as planted",
            "evidence": {},
            **more,
        }
        self.own("sample", **fields)

    def whole_pass(self, tier: str, step: Pass, times: list[float], verdict: str, **more: Any) -> None:
        """A pass from its begin to its verdicts."""
        src = self.source(tier, step)
        self.of_node(src, "pass_begin", requests=len(times))
        for document, ttft_ms in enumerate(times):
            self.answer(tier, step, document, ttft_ms)
        self.of_node(src, "pass_end", ok=len(times), failed=0)
        for document, ttft_ms in enumerate(times):
            self.judge(tier, step, document, ttft_ms, verdict, **more)

    def tier(
        self, tier: str, cold: list[float], cached: list[float], verdict: str = "full", **evidence: Any
    ) -> None:
        """Both passes of a tier."""
        self.step(tier, "cold/single")
        stored = {"hit_tokens": 0, "stored_tokens": 2048, "store_ms": 5.0}
        self.whole_pass(tier, Pass.COLD, cold, "none", evidence=stored)
        self.step_done(tier, "cold/single", "COLD", sum(cold) / 1000)
        self.step(tier, "cached/single")
        self.whole_pass(tier, Pass.CACHED, cached, verdict, evidence=evidence)
        self.step_done(tier, "cached/single", "CACHED", sum(cached) / 1000)

    def node_sample(self, node: str = "gpu-a", **fields: Any) -> None:
        """A sample of a node at this moment."""
        self.of_node(f"{node}:watch", "node_sample", **fields)

    def ceiling(self, what: str, bytes_s: float) -> None:
        """A measured ceiling of the engine's node."""
        fields = {
            "node": "gpu-a", "what": what, "how": "direct, 4 threads", "bytes_s": bytes_s,
            "low_bytes_s": bytes_s * 0.97, "high_bytes_s": bytes_s * 1.02, "repeats": 3,
            "chunk_bytes": 1 << 20, "threads": 4, "tool": "kvtui", "target": "",
            "measured_wall_s": self.now_s,
        }  # fmt: skip
        self.own("ceiling", **fields)

    def view(self, **more: Any) -> LiveView:
        """What is to be shown now."""
        return self.state.view(self.now_s, **more)

    def codes(self) -> list[str]:
        """Codes of the findings, in order."""
        return [one.finding.code for one in self.view().findings]


def numbers(value: Any) -> Iterator[float]:
    """Every number in a view."""
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from numbers(one)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from numbers(getattr(value, name))
