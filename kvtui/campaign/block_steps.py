"""What each step of a block does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from kvtui.campaign import engines, gate, passes, tiers
from kvtui.campaign.context import Context, each
from kvtui.campaign.document_checks import document_findings
from kvtui.campaign.documents import (
    RunDocuments,
    in_order,
    load_documents,
    make_documents,
    save_documents,
    shared_tokens,
)
from kvtui.campaign.own_documents import read_source, source_findings
from kvtui.campaign.passes import PassSpec
from kvtui.campaign.steps import Block, Step, StepKind, block_nodes, serving_node
from kvtui.campaign.tokenizing import Tokens
from kvtui.errors import PreflightError, RunFailed
from kvtui.findings import Level
from kvtui.fingerprint import fingerprint_findings, read_fingerprint
from kvtui.plan import TierKind
from kvtui.samples import Pass

Work = Callable[[Context, Block, Step], Awaitable[dict[str, Any]]]


def _documents(ctx: Context) -> RunDocuments:
    return load_documents(ctx.record.documents, ctx.plan.corpus.documents)


async def _empty(ctx: Context, block: Block, step: Step) -> dict[str, Any]:
    return await tiers.remove_own(ctx, block)


async def _engines(ctx: Context, block: Block, step: Step) -> dict[str, Any]:
    return await engines.start(ctx, block)


async def _corpus(ctx: Context, block: Block, step: Step) -> dict[str, Any]:
    node = ctx.plan.passes.cold_node
    port, _ = engines.ports(ctx, block, node)

    async def tokenize(text: str) -> Tokens:
        body = {
            "model": ctx.plan.model.served_name,
            "prompt": text,
            "add_special_tokens": False,
            "return_token_strs": True,
        }
        answer = await ctx.links[node].agent(
            "http", port=port, method="POST", path="/tokenize", body=body, timeout_s=120
        )
        if answer["status"] != 200:
            raise RunFailed(f"The engine on {node} cannot tokenize: {answer['text'][:200]}.")
        said = engines.json_of(answer)
        pieces = said.get("token_strs")
        return Tokens(tuple(said["tokens"]), None if pieces is None else tuple(pieces))

    source = read_source(ctx.plan)
    documents = await make_documents(ctx.plan, tokenize, source)
    for problem in documents.problems:
        ctx.journal.append("corpus_problem", **asdict(problem))
    for finding in source_findings(documents.problems):
        ctx.find(finding)
    for finding in document_findings(documents, ctx.plan.hash.chunk_tokens):
        ctx.find(finding)
    save_documents(documents, ctx.record.documents)
    shared = shared_tokens(documents.corpus, ctx.plan.hash.chunk_tokens)
    record: dict[str, Any] = {
        "documents": len(documents.corpus),
        "sha256": documents.sha256,
        "prompt_tokens": ctx.plan.corpus.prompt_tokens,
        "shared_tokens": sum(shared.values()),
    }
    if source is not None:
        record.update(source=source.path, source_form=source.form, source_sha256=source.sha256)
    return record


async def _warmup(ctx: Context, block: Block, step: Step) -> dict[str, Any]:
    documents = _documents(ctx).warmup
    topology = block.topologies[0]

    async def one(node: str) -> dict[str, Any]:
        spec = PassSpec(block, topology, Pass.WARMUP, node, f"warmup.{node}")
        _, record = await passes.carry_out(ctx, spec, documents)
        if record["answered"] < len(documents):
            raise PreflightError(
                f"The engine on {node} did not answer its warm-up requests.",
                f"The failures stand in the record of run {ctx.run}.",
            )
        await tiers.remove_tagged(ctx, block, f"warmup.{node}")
        return record

    return await each(block_nodes(ctx.plan, block), one)


async def _fingerprint(ctx: Context, block: Block, step: Step) -> dict[str, Any]:
    nodes = block_nodes(ctx.plan, block)

    async def one(node: str) -> Any:
        copy = engines.log_copy(ctx, block, node)
        await copy.update()
        found = await engines.engine(ctx, block, node).environ(["PYTHONHASHSEED", "KVTUI_RUN"])
        # A process that gave itself a title may have overwritten its environment: then it says nothing.
        readable = [process.values for process in found if process.values["KVTUI_RUN"] == ctx.run]
        return read_fingerprint(copy.lines(), [values["PYTHONHASHSEED"] for values in readable])

    prints = await each(nodes, one)
    size = prints[nodes[0]].bytes_per_token
    if size is not None and not any(e["tier"] == block.tier for e in ctx.journal.of_kind("geometry")):
        ctx.journal.append("geometry", tier=block.tier, bytes_per_token=size)
    wanted = {node: ctx.plan.hash.seed_for(node) for node in nodes}
    accepted = ctx.plan.hash.accept_differing
    findings = fingerprint_findings(ctx.tier(block), block.topologies, wanted, prints, accepted=accepted)
    for finding in findings:
        ctx.find(finding)
    if any(finding.level is Level.BLOCKING for finding in findings):
        raise PreflightError(
            f"The engines of tier {block.words} are not as the plan needs them, so the run stopped here.",
            "The findings above say what differs and what to do.",
        )
    return {node: print_.to_json() for node, print_ in prints.items()}


async def _gate(ctx: Context, block: Block, step: Step) -> dict[str, Any]:
    return await gate.check(ctx, block, _documents(ctx))


async def _page_cache(ctx: Context, spec: PassSpec) -> dict[str, Any]:
    """Make the disk tier's files cold before a pass begins, and never under it."""
    source = spec.source(ctx)
    for event in ctx.journal.of_kind("page_cache"):
        if event["before"] == source:
            return dict(event["pages"])
    if await passes.begun(ctx, spec):
        return {}
    pages = await tiers.make_cold(ctx, spec.block, spec.node)
    if pages:
        ctx.journal.append("page_cache", before=source, pages=pages)
    return pages


async def _pass(ctx: Context, block: Block, step: Step) -> dict[str, Any]:
    topology = step.topology or block.topologies[0]
    if step.kind is StepKind.COLD:
        spec = PassSpec(block, topology, Pass.COLD, ctx.plan.passes.cold_node)
    else:
        spec = PassSpec(block, topology, Pass.CACHED, serving_node(ctx.plan, topology))
    cold_files = await _page_cache(ctx, spec)
    documents = in_order(ctx.plan, spec.step, block.repeat, _documents(ctx).corpus)
    _, record = await passes.carry_out(ctx, spec, documents)
    return {**record, "page_cache": cold_files} if cold_files else record


async def _settle(ctx: Context, block: Block, step: Step) -> dict[str, Any]:
    return await tiers.settle(ctx, block, "", _documents(ctx).corpus)


async def _stop(ctx: Context, block: Block, step: Step) -> dict[str, Any]:
    record = await engines.stop(ctx, block)
    if ctx.tier(block).kind is not TierKind.NONE:
        record["tier"] = await tiers.remove_own(ctx, block)
    return record


WORK: dict[StepKind, Work] = {
    StepKind.EMPTY: _empty,
    StepKind.ENGINES: _engines,
    StepKind.CORPUS: _corpus,
    StepKind.WARMUP: _warmup,
    StepKind.FINGERPRINT: _fingerprint,
    StepKind.GATE: _gate,
    StepKind.COLD: _pass,
    StepKind.SETTLE: _settle,
    StepKind.CACHED: _pass,
    StepKind.STOP: _stop,
}
