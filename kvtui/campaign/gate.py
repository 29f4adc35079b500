"""The sanity gate: two documents must come back before a pass of an hour begins."""

from __future__ import annotations

from typing import Any

from kvtui.campaign import passes, tiers
from kvtui.campaign.context import Context
from kvtui.campaign.documents import RunDocuments
from kvtui.campaign.passes import PassSpec
from kvtui.campaign.steps import Block, gated, serving_node
from kvtui.errors import PreflightError
from kvtui.gate_findings import gate_findings
from kvtui.samples import Pass

PURPOSE = "gate"


async def check(ctx: Context, block: Block, documents: RunDocuments) -> dict[str, Any]:
    """Send two documents cold and again, wherever the plan expects them to be found.

    Raises:
        PreflightError: They were not reused.
    """
    topologies = gated(ctx.plan, block, ctx.shape) if ctx.shape is not None else ()
    if not topologies:
        return {"checked": []}
    cold = PassSpec(block, topologies[0], Pass.GATE_COLD, ctx.plan.passes.cold_node, PURPOSE)
    stored, _ = await passes.carry_out(ctx, cold, documents.gate)
    await tiers.settle(ctx, block, PURPOSE, documents.gate)
    for topology in topologies:
        node = serving_node(ctx.plan, topology)
        spec = PassSpec(block, topology, Pass.GATE_CACHED, node, PURPOSE)
        samples, _ = await passes.carry_out(ctx, spec, documents.gate)
        missed = gate_findings(block.tier, node, stored, samples)
        if missed or len(samples) < len(documents.gate):
            for finding in missed:
                ctx.find(finding)
            raise PreflightError(
                f"The sanity gate of tier {block.words} failed on {node}, so the run stopped here.",
                f"The reason stands above and in the record of run {ctx.run}.",
            )
    await tiers.remove_tagged(ctx, block, PURPOSE)
    return {"checked": [str(topology) for topology in topologies]}
