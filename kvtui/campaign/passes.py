"""A pass: the probe sends its requests on the node, its events are merged here, each request is judged."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from corpus.tokens import TokenDocument
from kvtui.answers import answer_from
from kvtui.attribution import Evidence, collect, judge, reusable_tokens, with_cached_tokens
from kvtui.campaign import engine_death, engines, layout, merging, metrics, watching
from kvtui.campaign.context import Context
from kvtui.campaign.documents import shared_tokens
from kvtui.campaign.pass_facts import ByteWay, byte_way, pass_facts
from kvtui.campaign.requests import PassPlan, requests_jsonl
from kvtui.campaign.steps import Block
from kvtui.errors import RunFailed
from kvtui.findings import Finding, Level
from kvtui.journal import Event
from kvtui.loglines import all_figures
from kvtui.pass_counts import grown
from kvtui.plan import TierKind, Topology
from kvtui.samples import Pass, Sample
from kvtui.witnesses import PassFacts, witness_findings
from remote.errors import RemoteError
from remote.link import program_argv
from remote.process import Process

_POLL_S = 1.0
# Each question costs the node some of the processor that it is measured with: so seldom.
_LOOK_S = 15.0
# The engine writes its lines before it answers, but through a buffer of its own.
_LOG_PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class PassSpec:
    """One pass to carry out.

    Attributes:
        block: Its block.
        topology: Where its samples belong.
        step: Which pass.
        node: The node that serves it.
        purpose: What its keys are for; empty for the measured passes.
    """

    block: Block
    topology: Topology
    step: Pass
    node: str
    purpose: str = ""

    def plan(self, ctx: Context) -> PassPlan:
        """The pass in plain values."""
        attempt = ctx.attempt(self.block)
        return PassPlan(
            block=self.block.name,
            attempt=attempt,
            topology=self.topology,
            step=self.step,
            node=self.node,
            tag=layout.tag(ctx.run, self.block.name, attempt, self.purpose),
        )

    def source(self, ctx: Context) -> str:
        """Name of its event file in the record."""
        return layout.source(self.node, self.block.name, ctx.attempt(self.block), self.topology, self.step)


def _process(ctx: Context, spec: PassSpec) -> Process:
    what, node = spec.plan(ctx), ctx.layout(spec.node)
    return Process(ctx.links[spec.node], node.pass_dir(what.block, what.attempt, what.topology, what.step))


async def begun(ctx: Context, spec: PassSpec) -> bool:
    """Whether the probe of a pass was ever started."""
    return (await _process(ctx, spec).status()).state != "absent"


async def _launch(ctx: Context, spec: PassSpec, documents: Sequence[TokenDocument]) -> Process:
    """Start the probe of a pass, or find it running or done."""
    link, what = ctx.links[spec.node], spec.plan(ctx)
    process = _process(ctx, spec)
    directory = process.dir
    status = await process.status()
    if status.state in ("running", "ended") and status.exit_code in (None, 0):
        return process
    port, _ = engines.ports(ctx, spec.block, spec.node)
    requests = requests_jsonl(ctx.plan, ctx.tier(spec.block).kind, ctx.run, what, documents)
    engine_dir = engines.engine(ctx, spec.block, spec.node).dir
    uses_store = ctx.tier(spec.block).kind is TierKind.VALKEY
    job = {
        "v": 1,
        "port": port,
        "engine_dir": engine_dir,
        "store_port": ctx.target.store_port if uses_store else None,
        "events": f"{directory}/events.jsonl",
        "requests": f"{directory}/requests.jsonl",
        "timeout_s": ctx.plan.engine.request_timeout_s,
        "lease_dirs": [engine_dir, directory, watching.process(ctx, spec.node).dir],
    }
    await link.upload(requests, f"{directory}/requests.jsonl")
    await link.upload(json.dumps(job).encode(), f"{directory}/job.json")
    argv = await program_argv(link, "probe", f"{directory}/job.json")
    await process.start(argv, env={}, marker=ctx.run, lease_s=ctx.lease_s, again=status.state != "absent")
    return process


def _events(ctx: Context, spec: PassSpec) -> list[Event]:
    source = spec.source(ctx)
    return [event for event in ctx.journal.events if event["src"] == source]


def _over(ctx: Context, spec: PassSpec) -> bool:
    source = spec.source(ctx)
    return any(event["src"] == source for event in ctx.journal.of_kind("pass_end"))


async def _follow(ctx: Context, spec: PassSpec, process: Process) -> None:
    """Merge the probe's events until the pass is over.

    Raises:
        RunFailed: The probe ended before the pass was over.
        RemoteError: The node cannot be asked; the pass itself goes on there.
    """
    source, path = spec.source(ctx), f"{process.dir}/events.jsonl"
    while True:
        try:
            async with asyncio.timeout(_LOOK_S):
                await merging.merge_on(ctx.journal, process.link, path, source, lambda: _over(ctx, spec))
        except TimeoutError:
            pass
        except RemoteError:  # whether the link holds is asked next
            await asyncio.sleep(_POLL_S)
        if _over(ctx, spec):
            return
        status = await process.status()
        await merging.merge(ctx.journal, process.link, path, source)
        if _over(ctx, spec):
            return
        if status.state != "running":
            raise RunFailed(
                f"The probe on {spec.node} ended before its pass was over ({status.reason or status.state}).",
                f"What it measured is kept. Go on with: kvtui attach {ctx.run}",
            )


async def _evidence(ctx: Context, spec: PassSpec, answered: dict[str, int | None]) -> dict[str, Evidence]:
    """What the engine's log says of the requests, once it has said it of all of them."""
    if ctx.tier(spec.block).kind is TierKind.NONE:
        return with_cached_tokens({}, answered)
    copy = engines.log_copy(ctx, spec.block, spec.node)
    ranks = ctx.shape.storing_ranks if ctx.shape else 1
    waited_s = 0.0
    while True:
        await copy.update()
        found = collect(all_figures(copy.lines()))
        whole = all(found.get(request_id, Evidence()).whole(ranks) for request_id in answered)
        if whole or waited_s >= _LOG_PATIENCE_S:
            return with_cached_tokens(found, answered)
        await asyncio.sleep(_POLL_S)
        waited_s += _POLL_S


def _sample(
    ctx: Context,
    spec: PassSpec,
    place: int,
    document: TokenDocument,
    event: Event,
    seen: Evidence,
    shared: int,
    way: ByteWay,
    run_place: int | None,
) -> Sample:
    reusable = reusable_tokens(len(document.token_ids), ctx.plan.hash.chunk_tokens)
    failed = event["kind"] == "failed"
    lmcache_on = ctx.tier(spec.block).kind is not TierKind.NONE
    reuse = judge(Evidence() if failed else seen, reusable, lmcache_on=lmcache_on)
    counted = way.evidence(event, seen, reuse.verdict)
    return Sample(
        request_id=event["request_id"],
        tier=spec.block.tier,
        block=spec.block.name,
        attempt=ctx.attempt(spec.block),
        topology=spec.topology,
        step=spec.step,
        document=document.document_id,
        place=place,
        node=spec.node,
        ttft_ms=None if failed else event["ttft_ms"],
        prompt_tokens=None if failed else event["prompt_tokens"],
        reusable_tokens=reusable,
        reused_tokens=None if failed else reuse.reused_tokens,
        verdict=reuse.verdict,
        reason=f"{event['error']}: {event['detail']}" if failed else reuse.reason,
        evidence=seen.to_json() | counted,
        shared_tokens=min(shared, reusable) if lmcache_on else 0,
        repeat=spec.block.repeat,
        run_place=run_place,
        answer=None if failed else answer_from(event.get("answer")),
    )


async def _judge(ctx: Context, spec: PassSpec, documents: Sequence[TokenDocument]) -> list[Sample]:
    """Judge the requests of a pass, and record each sample once."""
    ends = {event["request_id"]: event for event in _events(ctx, spec) if event["kind"] in ("done", "failed")}
    answered = {
        request_id: event["cached_tokens"] for request_id, event in ends.items() if event["kind"] == "done"
    }
    evidence = await _evidence(ctx, spec, answered)
    known = {event["request_id"]: event for event in ctx.journal.of_kind("sample")}
    what, way = spec.plan(ctx), byte_way(ctx, spec.block.tier, spec.node)
    shared = shared_tokens(documents, ctx.plan.hash.chunk_tokens)
    samples = []
    for place, document in enumerate(documents, 1):
        request_id = layout.request_id(
            ctx.run, what.block, what.attempt, what.topology, what.step, what.node, document.document_id
        )
        if request_id in ends:
            seen = evidence.get(request_id, Evidence())
            common = shared[document.document_id]
            recorded = known.setdefault(request_id, {})
            run_place = recorded.get("run_place") if recorded else len(known)
            sample = _sample(ctx, spec, place, document, ends[request_id], seen, common, way, run_place)
            samples.append(sample)
            if not recorded:
                ctx.journal.append("sample", **sample.to_json())
    return samples


async def _counters(ctx: Context, spec: PassSpec, moment: str) -> dict[str, float | str | None]:
    """A reading of the engine's and the store's counters at a moment of the pass, taken once."""
    name = f"{spec.source(ctx).replace(':', '.').replace('/', '.')}.{moment}"
    for event in ctx.journal.of_kind("counters"):
        if event["name"] == name:
            return dict(event["values"])
    values: dict[str, float | str | None] = {**await metrics.read(ctx, spec.block, spec.node, name)}
    if ctx.tier(spec.block).kind is TierKind.VALKEY:
        values |= await metrics.read_store(ctx)
    ctx.journal.append("counters", name=name, values=values)
    return values


def cold_findings(samples: Sequence[Sample], where: str) -> tuple[Finding, ...]:
    """What a cold pass reused beyond what its requests share, and what it did not reuse of that."""
    found = []
    warm = [sample for sample in samples if not sample.is_cold]
    if warm:
        beyond = " beyond what they share" if any(sample.shared_tokens for sample in samples) else ""
        text = f"{len(warm)} requests of the cold pass reused KV{beyond}, so they were not cold."
        found.append(Finding(Level.WARNING, "cold-not-cold", text, "", where))
    sharing = [sample for sample in samples if sample.shared_tokens and sample.reused_tokens is not None]
    missed = [sample for sample in sharing if (sample.reused_tokens or 0) < sample.shared_tokens]
    if missed:
        first = missed[0]
        text = (
            f"{len(missed)} of {len(sharing)} requests of the cold pass that share a beginning with earlier "
            f"ones reused less of it than expected ({first.document}: {first.reused_tokens} of "
            f"{first.shared_tokens} tokens)."
        )
        remedy = "The tier is too small for it, or its writes had not arrived yet."
        found.append(Finding(Level.WARNING, "shared-not-reused", text, remedy, where))
    return tuple(found)


def _check(ctx: Context, spec: PassSpec, samples: Sequence[Sample], facts: PassFacts) -> None:
    """Say what a reader of the figures must know about this pass."""
    where = facts.where
    failed = [sample for sample in samples if sample.ttft_ms is None]
    if failed:
        first = failed[0].reason.rstrip(".")
        text = f"{len(failed)} of {len(samples)} requests failed, the first with {first}."
        ctx.find(Finding(Level.WARNING, "requests-failed", text, "", where))
    if spec.step is Pass.COLD:
        for finding in cold_findings(samples, where):
            ctx.find(finding)
    if spec.step is not Pass.WARMUP:
        for finding in witness_findings(facts):
            ctx.find(finding)


async def carry_out(
    ctx: Context, spec: PassSpec, documents: Sequence[TokenDocument]
) -> tuple[list[Sample], dict[str, Any]]:
    """Carry a pass out, or go on with it where it stands.

    Returns:
        The samples in order, and what to record of the pass.

    Raises:
        RunFailed: The probe ended early, or the engine died.
        RemoteError: A node cannot be asked; the pass itself goes on there.
    """
    before = await _counters(ctx, spec, "before")
    process = await _launch(ctx, spec, documents)
    await _follow(ctx, spec, process)
    after = await _counters(ctx, spec, "after")
    samples = await _judge(ctx, spec, documents)
    where = f"{spec.block.words} · {spec.topology} · {spec.step}"
    done = [event for event in _events(ctx, spec) if event["kind"] == "done"]
    facts = pass_facts(ctx, spec.block.tier, where, samples, done, before, after)
    _check(ctx, spec, samples, facts)
    await engine_death.check(ctx, spec.block, spec.node, spec.step, samples)
    record = {
        "requests": len(documents),
        "answered": sum(1 for sample in samples if sample.ttft_ms is not None),
        "external_hit_tokens": facts.external_hit_tokens,
        "external_query_tokens": grown(before, after, "external_queries"),
    }
    return samples, record
