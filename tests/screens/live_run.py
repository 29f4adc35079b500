"""A run on two big machines, made up second by second, and a feed that gives it up to a moment."""

from __future__ import annotations

import json
import random
import time
from typing import Any

from kvtui.campaign.layout import request_id, source
from kvtui.errors import KvtuiError
from kvtui.feed import FeedBatch, LogPiece
from kvtui.journal import Event
from kvtui.plan import Plan, load_plan
from kvtui.recordings import PLANS
from kvtui.samples import Pass
from tests.screens.live_samples import ceilings, node_sample, store_sample

RUN = "261129-181131-07aa"
START_S = 1_795_975_891.0
_TOKENS = 10_000
_WHOLE = 9_984
_BYTES = 57_344
# Median TTFT in ms of cold and cached requests, retrieve ms, and whether the tier keeps what it was given.
_TIERS = {
    "none": (423.0, 423.0, None, False),
    "dram": (428.0, 428.0, None, False),
    "disk": (470.0, 403.0, 331.0, True),
    "valkey": (428.0, 226.0, 154.0, True),
}


def plan() -> Plan:
    """The seed plan, with a baseline."""
    data = load_plan(PLANS / "seed.toml").model_dump(mode="json")
    data["tiers"] = [{"name": "none", "kind": "none"}, *data["tiers"]]
    data["passes"]["fleet_cold"] = "shared"
    return Plan.model_validate(data)


class MadeRun:
    """The events and log lines of a run, each with its time.

    Args:
        documents: Documents in each pass.
    """

    def __init__(self, documents: int = 30) -> None:
        self.plan = plan()
        self.plan = self.plan.model_copy(
            update={"corpus": self.plan.corpus.model_copy(update={"documents": documents})}
        )
        self.documents = documents
        self.events: list[Event] = []
        self.log: list[tuple[float, str, str, str]] = []
        self._dice = random.Random(7)  # noqa: S311  figures, not secrets
        self._now = START_S
        self._sampled = START_S
        self._moved: dict[str, float] = {"rx": 0.0, "disk": 0.0, "written": 0.0, "used": 0.2e9, "keys": 0.0}
        self._busy = 0.0
        self._own("run_begin", run=RUN, plan=self.plan.name)
        for ceiling in ceilings(START_S):
            self._own("ceiling", **ceiling)
        for tier in _TIERS:
            self._block(tier)
        self._own("run_done")

    def _own(self, kind: str, **fields: Any) -> None:
        self.events.append({"v": 1, "src": "kvtui", "wall_s": self._now, "kind": kind, **fields})

    def _pass(self, seconds: float) -> None:
        self._now += seconds
        while self._sampled + 1.0 <= self._now:
            self._sampled += 1.0
            for node in ("gpu-a", "gpu-b"):
                self.events.append(node_sample(node, self._sampled, self._moved, self._busy))
            self.events.append(store_sample(self._sampled, self._moved))

    def _step(self, block: str, rest: str, kind: str, seconds: float, words: str) -> None:
        self._own("step_begin", step=f"{block}.1/{rest}", words=words)
        self._pass(seconds)
        self._done(block, rest, kind, seconds)

    def _done(self, block: str, rest: str, kind: str, seconds: float) -> None:
        self._own("step_done", step=f"{block}.1/{rest}", step_kind=kind, seconds=seconds, record={})

    def _block(self, tier: str) -> None:
        block = f"{tier}-single-fleet"
        self._step(block, "empty", "EMPTY", 0.5, f"{tier} · empty the tier")
        self._engine_log(block)
        self._step(block, "engines", "ENGINES", 42.0, f"{tier} · start engines")
        if tier != "none":
            self._own("geometry", tier=tier, bytes_per_token=_BYTES)
        self._step(block, "warmup", "WARMUP", 2.0, f"{tier} · warm up")
        self._run_pass(tier, block, "single", Pass.COLD, "gpu-a")
        self._step(block, "settle", "SETTLE", 1.0, f"{tier} · wait for stores")
        for topology, node in (("single", "gpu-a"), ("fleet", "gpu-b")):
            self._run_pass(tier, block, topology, Pass.CACHED, node)
        self._step(block, "stop", "STOP", 2.0, f"{tier} · stop engines")

    def _run_pass(self, tier: str, block: str, topology: str, step: Pass, node: str) -> None:
        rest, src = f"{step}/{topology}", source(node, block, 1, topology, step)
        self._own("step_begin", step=f"{block}.1/{rest}", words=f"{tier} · {topology} · {step} pass")
        began = self._now
        self._node(src, "pass_begin", requests=self.documents)
        for place in range(self.documents):
            self._ask(tier, block, topology, step, node, place)
        self._node(src, "pass_end", ok=self.documents, failed=0)
        self._busy = 0.0
        self._done(block, rest, step.value.upper(), self._now - began)

    def _node(self, src: str, kind: str, **fields: Any) -> None:
        event = {"v": 1, "kind": kind, "wall_s": self._now, "mono_ns": int(self._now * 1e9), "src": src}
        self.events.append({**event, "off": 0, "end": 0, **fields})

    def _ask(self, tier: str, block: str, topology: str, step: Pass, node: str, place: int) -> None:
        cold, cached, retrieve, keeps = _TIERS[tier]
        reused = step is Pass.CACHED and keeps and not (tier == "disk" and topology == "fleet")
        document = f"legal-{place + 1:03d}-lease"
        identity = request_id(RUN, block, 1, topology, step, node, document)
        src = source(node, block, 1, topology, step)
        ttft = (cached if reused else cold) * self._dice.gauss(1.0, 0.035)
        if tier == "valkey" and step is Pass.COLD and place < 2:
            ttft *= 2.4 - place
        self._busy = 96.0 if not reused else 41.0
        common = {"request_id": identity, "meta": {"document": document}, "attempt": 1}
        self._node(src, "sent", **common)
        sent = self._now
        read_ms = retrieve * self._dice.gauss(1.0, 0.03) if reused and retrieve else None
        if tier != "none":
            self._request_log(block, node, identity, step, sent, ttft, read_ms)
        size = _WHOLE * _BYTES
        if reused:
            self._moved["rx" if tier == "valkey" else "disk"] += size
        elif tier == "valkey":
            self._moved["used"] += size if step is Pass.COLD else 0
            self._moved["keys"] += 39 if step is Pass.COLD else 0
        elif tier == "disk":
            self._moved["written"] += size
        self._pass(ttft / 1000)
        told = {**common, "ttft_ms": ttft, "no_text": False}
        self._node(src, "first_token", **told)
        self._node(
            src,
            "done",
            **told,
            total_ms=ttft,
            prompt_tokens=_TOKENS,
            completion_tokens=1,
            cached_tokens=_WHOLE if reused else 0,
            finish_reason="length",
            response_id=f"cmpl-{identity}",
            text="x",
        )
        hit = _WHOLE if reused else 0
        evidence: dict[str, Any] = {"hit_tokens": hit, "cached_tokens": hit, "recovered": False}
        if read_ms:
            evidence |= {"retrieved_tokens": hit, "retrieve_ms": read_ms, "retrieve_gib": 0.5332}
        elif tier != "none":
            evidence |= {"stored_tokens": _WHOLE, "store_ms": 31.0}
        self._own(
            "sample",
            request_id=identity,
            tier=tier,
            block=block,
            attempt=1,
            topology=topology,
            step=step.value,
            document=document,
            place=place + 1,
            node=node,
            ttft_ms=ttft,
            prompt_tokens=_TOKENS,
            reusable_tokens=_WHOLE,
            reused_tokens=hit,
            verdict="full" if reused else "none",
            reason=f"lookup {hit}, retrieved {hit or '–'}, engine reports {hit} cached",
            evidence=evidence,
        )
        self._pass(0.012)

    def _line(self, wall_s: float, node: str, block: str, level: str, text: str) -> None:
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(wall_s)) + f",{int(wall_s % 1 * 1000):03d}"
        line = f"(EngineCore pid=4711) [{stamp}] LMCache {level}: {text} (cache_engine.py:577:lmcache.v1.x)"
        self.log.append((wall_s, node, f"{block}.1.engine", line))

    def _engine_log(self, block: str) -> None:
        for second, text in enumerate(("Creating LMCacheEngine", "Loading weights", "Engine is ready")):
            for node in ("gpu-a", "gpu-b"):
                self._line(self._now + second * 14, node, block, "INFO", text)
        self._line(self._now + 30, "gpu-a", block, "WARNING", "Pin count is negative: -1")

    def _request_log(
        self,
        block: str,
        node: str,
        identity: str,
        step: Pass,
        sent: float,
        ttft: float,
        read_ms: float | None,
    ) -> None:
        engine_id = f"cmpl-{identity}-0-90333340"
        hit = _WHOLE if read_ms else 0
        self._line(
            sent + 0.004,
            node,
            block,
            "INFO",
            f"Reqid: {engine_id}, Total tokens {_TOKENS}, Inference Engine computed tokens: 0, LMCache hit "
            f"tokens: {hit}, need to load: {hit}",
        )
        if read_ms:
            self._line(
                sent + 0.01 + read_ms / 1000,
                node,
                block,
                "INFO",
                f"[req_id={engine_id}] Retrieved {hit} out of {hit} required tokens (from {hit} total "
                f"tokens). size: 0.5332 gb, cost {read_ms:.4f} ms, throughput: {533.2 / read_ms:.4f} GB/s;",
            )
            self._line(sent + 0.02 + read_ms / 1000, node, block, "WARNING", "Pin count is negative: -1")
        else:
            self._line(
                sent + ttft / 1000,
                node,
                block,
                "INFO",
                f"[req_id={engine_id}] Stored {_WHOLE} out of total {_WHOLE} tokens. size: 0.5332 GB, cost "
                "31.0000 ms, throughput: 17.2000 GB/s; offload_time: 2.9 ms, put_time: 0.1 ms",
            )


class RunFeed:
    """Gives a run up to a moment that the test sets.

    Attributes:
        moment_s: Seconds since the run began.
        alive: Whether something carries the run on.
        now: What happens this second.
    """

    def __init__(self, made: MadeRun, moment_s: float = 0.0) -> None:
        self.run = RUN
        self.plan = made.plan
        self.moment_s = moment_s
        self.alive = True
        self.now = ""
        self._events = made.events
        self._log = sorted(made.log)
        self._given = [0, 0]
        self._numbers: dict[tuple[str, str], int] = {}

    def poll(self) -> FeedBatch:
        """All that happened since the last time."""
        until = START_S + self.moment_s
        events = []
        while self._given[0] < len(self._events) and self._events[self._given[0]]["wall_s"] <= until:
            events.append(self._events[self._given[0]])
            self._given[0] += 1
        fresh: dict[tuple[str, str], list[str]] = {}
        while self._given[1] < len(self._log) and self._log[self._given[1]][0] <= until:
            _, node, process, text = self._log[self._given[1]]
            fresh.setdefault((node, process), []).append(text)
            self._given[1] += 1
        pieces = []
        for (node, process), lines in fresh.items():
            first = self._numbers.get((node, process), 1)
            self._numbers[node, process] = first + len(lines)
            pieces.append(LogPiece(node, process, first, tuple(lines)))
        return FeedBatch(tuple(events), tuple(pieces), self.now, until, self.alive)


def moment(made: MadeRun, tier: str, topology: str, step: Pass, answered: int) -> float:
    """Seconds into the run at which so many requests of a pass were judged."""
    seen = 0
    for event in made.events:
        if event["kind"] == "sample" and (event["tier"], event["topology"]) == (tier, topology):
            seen += event["step"] == step.value
            if seen == answered:
                return float(event["wall_s"]) - START_S + 0.001
    raise LookupError(json.dumps([tier, topology, step.value, answered]))


class FakeRuns:
    """One run, or none.

    Attributes:
        feed: Its feed.
        stopped: Runs that were stopped.
        replayed: Speeds of replays.
        refused: Opening a run fails with this.
    """

    def __init__(self, feed: RunFeed | None) -> None:
        self.feed = feed
        self.stopped: list[str] = []
        self.replayed: list[float] = []
        self.refused: KvtuiError | None = None

    def latest(self) -> str | None:
        """The one run."""
        return self.feed.run if self.feed else None

    def open(self, run: str) -> RunFeed:
        """Its feed."""
        if self.refused or self.feed is None:
            raise self.refused or KvtuiError("There is no run.")
        return self.feed

    def replay(self, run: str, speed: float) -> RunFeed:
        """Its feed."""
        self.replayed.append(speed)
        return self.open(run)

    def what_stops(self, run: str) -> tuple[str, ...]:
        """A process and a folder."""
        return ("gpu-a: engine, process 4711", "gpu-a: /mnt/nvme/kv/kvtui-run")

    async def stop(self, run: str) -> None:
        """Remember it."""
        self.stopped.append(run)
