"""The engine's own counters, read before and after a pass."""

from __future__ import annotations

from kvtui.campaign import engines
from kvtui.campaign.context import Context
from kvtui.campaign.steps import Block
from kvtui.plan import TierKind
from remote.errors import AgentError

EXTERNAL_HITS = "vllm:external_prefix_cache_hits"
EXTERNAL_QUERIES = "vllm:external_prefix_cache_queries"


def counter(text: str, name: str) -> float | None:
    """The sum of a counter over its labels, ``None`` when it is not in the text.

    Args:
        text: Prometheus exposition text.
        name: Name of the counter, without ``_total``.
    """
    from prometheus_client.parser import text_string_to_metric_families

    values = [
        sample.value
        for family in text_string_to_metric_families(text)
        if family.name == name
        for sample in family.samples
        if not sample.name.endswith("_created")
    ]
    return sum(values) if values else None


async def _scrape(ctx: Context, node: str, port: int) -> str | None:
    try:
        answer = await ctx.links[node].agent("http", port=port, method="GET", path="/metrics", timeout_s=10)
    except AgentError as error:
        if error.code in ("refused", "timeout", "broken"):
            return None
        raise
    return str(answer["text"]) if answer["status"] == 200 else None


async def read(ctx: Context, block: Block, node: str, name: str) -> dict[str, float | None]:
    """Read the counters of an engine, keep them in the record, and return those of vLLM's external cache.

    Args:
        ctx: The run.
        block: Its block.
        node: The node of the engine.
        name: Name of the reading in the record.
    """
    port, internal_port = engines.ports(ctx, block, node)
    text = await _scrape(ctx, node, port)
    if text is not None:
        ctx.record.write(ctx.record.metrics(f"{name}.vllm"), text)
    if ctx.tier(block).kind is not TierKind.NONE:
        own = await _scrape(ctx, node, internal_port)
        if own is not None:
            ctx.record.write(ctx.record.metrics(f"{name}.lmcache"), own)
    return {
        "external_hits": None if text is None else counter(text, EXTERNAL_HITS),
        "external_queries": None if text is None else counter(text, EXTERNAL_QUERIES),
    }


def delta(before: dict[str, float | None], after: dict[str, float | None], name: str) -> int | None:
    """By how much a counter rose; ``None`` when it is absent or was reset."""
    first, last = before.get(name), after.get(name)
    if first is None or last is None or last < first:
        return None
    return int(last - first)
