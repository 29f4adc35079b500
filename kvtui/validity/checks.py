"""All checks over a run, from its events as they come: what a screen shows is what the tables have."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kvtui.campaign.steps import Block, StepKind, blocks
from kvtui.ceilings import Ceiling
from kvtui.ceilings import from_json as ceiling_from_json
from kvtui.findings import Finding
from kvtui.journal import OWN, Event
from kvtui.live.numbers import number, whole
from kvtui.live.sources import PassSource, pass_source
from kvtui.loglines import GIB
from kvtui.plan import Plan
from kvtui.samples import Pass
from kvtui.validity.clocks import Clock, clock_finding
from kvtui.validity.engine_cache import EngineCache
from kvtui.validity.gpu_use import IdleGpus, gpu_finding
from kvtui.validity.limits import Reads, limit_findings
from kvtui.validity.neighbours import neighbour_findings
from kvtui.validity.pass_watch import NodeWatch, PassWatch
from kvtui.validity.store_use import StoreUse, store_use_findings

_MEASURED = (Pass.COLD, Pass.CACHED)


class RunChecks:
    """Follows a run; asked for its findings at any time, of passes that are over."""

    def __init__(self, plan: Plan) -> None:
        self._blocks = {block.name: block for block in blocks(plan)}
        self._kinds = {tier.name: tier.kind for tier in plan.tiers}
        self._nodes: dict[str, NodeWatch] = {}
        self._gpus: dict[str, IdleGpus] = {}
        self._clocks: dict[tuple[str, str], Clock] = {}
        self._passes: dict[PassSource, PassWatch] = {}
        self._reads: dict[PassSource, Reads] = {}
        self._attempts: dict[str, int] = {}
        self._ceilings: list[Ceiling] = []
        self._engine_cache = EngineCache()
        self._store = StoreUse(-(-plan.corpus.prompt_tokens // plan.hash.chunk_tokens))
        self._own: dict[str, Callable[[Event], None]] = {
            "step_begin": self._step,
            "step_done": self._step_done,
            "store_sample": self._store.take,
            "ceiling": self._ceiling,
            "counters": self._counters,
            "sample": self._sample,
        }

    def take(self, event: Event) -> None:
        """The next event of the record.

        Raises:
            LookupError, TypeError, ValueError, AttributeError: It cannot be read.
        """
        kind, source = event["kind"], event["src"]
        if kind == "node_sample":
            self._node(source, event)
        elif source == OWN:
            if kind in self._own:
                self._own[kind](event)
        else:
            found = pass_source(source)
            if found is not None and found.block in self._blocks:
                self._of_pass(found, event)

    def _node(self, source: str, event: Event) -> None:
        node, wall_s = source.partition(":")[0], number(event.get("wall_s"))
        if wall_s is None:
            return
        self._clock(node, source, wall_s, number(event.get("mono_s")))
        self._gpus.setdefault(node, IdleGpus()).take(wall_s, event.get("engine"), event.get("gpus"))
        seen = self._nodes.setdefault(node, NodeWatch()).take(wall_s, event)
        if seen is not None:
            for one in self._passes.values():
                if one.node == node:
                    one.name(seen)

    def _clock(self, node: str, source: str, wall_s: float, mono_s: float | None) -> None:
        if mono_s is not None:
            self._clocks.setdefault((node, source), Clock()).take(wall_s, mono_s)

    def _of_pass(self, source: PassSource, event: Event) -> None:
        kind, wall_s = event["kind"], number(event.get("wall_s"))
        if kind == "sent":
            self._store.sent(_name(source.block, source.attempt))
        if kind in ("pass_begin", "sent", "pass_end") and wall_s is not None:
            mono_ns = number(event.get("mono_ns"))
            self._clock(source.node, event["src"], wall_s, None if mono_ns is None else mono_ns / 1e9)
        if source.step not in _MEASURED:
            return
        watch = self._passes.get(source)
        if kind == "pass_begin" and wall_s is not None:
            others = self._nodes.setdefault(source.node, NodeWatch()).counters.window(wall_s)
            block = self._blocks[source.block]
            tier = self._kinds[block.tier]
            where = _where(block, source)
            self._passes[source] = PassWatch(where, source.node, tier, source.step, wall_s, others)
        elif watch is not None and kind == "done":
            watch.moved(event.get("moved"))
        elif watch is not None and kind == "pass_end" and wall_s is not None:
            watch.end(wall_s)

    def _step(self, event: Event) -> None:
        name = event["step"].partition("/")[0]
        block, _, attempt = name.rpartition(".")
        if block in self._blocks:
            self._attempts[block] = int(attempt)
        self._store.begin(name if block in self._blocks else "")

    def _step_done(self, event: Event) -> None:
        if event.get("step_kind") == StepKind.PREPARE.name:
            shape = event["record"]
            # Latent KV is stored by the first rank alone (LMCache 0.5.4 ``save_only_first_rank``).
            self._store.set_ranks(1 if shape.get("latent") else whole(shape.get("ranks")))
        else:
            self._store.settle()

    def _ceiling(self, event: Event) -> None:
        found = ceiling_from_json({name: event[name] for name in Ceiling.__slots__})
        if found.bytes_s > 0:
            self._ceilings.append(found)

    def _counters(self, event: Event) -> None:
        name, _, moment = event["name"].rpartition(".")
        *_, block, attempt, topology, step = name.split(".")
        if block in self._blocks and moment in ("before", "after"):
            source = PassSource("", block, int(attempt), topology, Pass(step))
            of = self._blocks[block]
            self._engine_cache.take_counters(event, of.tier, _where(of, source), moment)

    def _sample(self, event: Event) -> None:
        step, block = Pass(event["step"]), self._blocks.get(event["block"])
        if block is None or step not in _MEASURED:
            return
        source = PassSource(event["node"], event["block"], event["attempt"], event["topology"], step)
        kind = self._kinds[block.tier]
        self._engine_cache.take_sample(event, block.tier, kind, _where(block, source))
        size, took = (number(event["evidence"].get(f"retrieve_{what}")) for what in ("gib", "ms"))
        if step is Pass.CACHED and size and took:
            reads = self._reads.setdefault(source, Reads(kind, source.node))
            reads.count += 1
            reads.size_bytes += size * GIB
            reads.seconds += took / 1000
            reads.end_wall_s = number(event.get("wall_s")) or reads.end_wall_s

    def findings(self) -> Iterator[tuple[Finding, float | None]]:
        """Every finding, with the time at which its cause was there; in a stable order."""
        over = [
            watch
            for source, watch in self._passes.items()
            if watch.end_wall_s is not None and self._counts(source.block, source.attempt)
        ]
        ends = {watch.where: watch.end_wall_s for watch in over}
        uses = [watch.use(self._nodes[watch.node].cores) for watch in over]
        for finding in neighbour_findings(uses):
            yield finding, ends[finding.where]
        for finding in self._engine_cache.findings():
            yield finding, None
        for name, use in self._store.blocks.items():
            block, _, attempt = name.rpartition(".")
            if self._counts(block, int(attempt)):
                for finding in store_use_findings(use, self._blocks[block].words):
                    yield finding, None
        for source, reads in self._reads.items():
            if not self._counts(source.block, source.attempt):
                continue
            for finding in limit_findings(reads, self._ceilings, _where(self._blocks[source.block], source)):
                yield finding, reads.end_wall_s
        yield from self._of_nodes()

    def _counts(self, block: str, attempt: int) -> bool:
        """Whether no later try of the block was begun: only the last one counts."""
        return attempt >= self._attempts.get(block, attempt)

    def _of_nodes(self) -> Iterator[tuple[Finding, float | None]]:
        worst: dict[str, Clock] = {}
        for (node, _), clock in self._clocks.items():
            if node not in worst or abs(clock.step_s) > abs(worst[node].step_s):
                worst[node] = clock
        for node, clock in worst.items():
            stepped = clock_finding(node, clock)
            if stepped is not None:
                yield stepped, clock.wall_s
        for node, gpus in self._gpus.items():
            shared = gpu_finding(node, gpus)
            if shared is not None:
                yield shared, gpus.wall_s


def _name(block: str, attempt: int) -> str:
    return f"{block}.{attempt}"


def _where(block: Block, source: PassSource) -> str:
    return f"{block.words} · {source.topology} · {source.step}"
