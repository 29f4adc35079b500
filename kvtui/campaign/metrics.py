"""The engine's and the store's own counters, read before and after a pass."""

from __future__ import annotations

import time

from kvtui.campaign import engines, tiers
from kvtui.campaign.context import Context
from kvtui.campaign.steps import Block
from kvtui.plan import TierKind
from remote.errors import AgentError, RemoteError

# Name in the record → metric (vLLM 0.28.0 ``v1/metrics/loggers.py``; the times of HTTP are those of
# prometheus-fastapi-instrumentator, which vLLM mounts).
_COUNTERS = {
    "external_hits": "vllm:external_prefix_cache_hits_total",
    "external_queries": "vllm:external_prefix_cache_queries_total",
    # The engine's own prefix cache, which a run keeps off.
    "prefix_hits": "vllm:prefix_cache_hits_total",
}
_TIMES = {
    "ttft": "vllm:time_to_first_token_seconds",
    "queue": "vllm:request_queue_time_seconds",
    "prefill": "vllm:request_prefill_time_seconds",
    "e2e": "vllm:e2e_request_latency_seconds",
    "http": "http_request_duration_seconds",
}
_HANDLER = "/v1/completions"


def engine_counters(text: str | None) -> dict[str, float | None]:
    """The engine's counters that a pass needs, ``None`` those that are not in its metrics.

    Args:
        text: Prometheus exposition text, or ``None`` when there is no answer.
    """
    from prometheus_client.parser import text_string_to_metric_families

    wanted = {metric: name for name, metric in _COUNTERS.items()}
    for name, metric in _TIMES.items():
        wanted |= {f"{metric}_sum": f"{name}_s", f"{metric}_count": f"{name}_count"}
    found: dict[str, float | None] = dict.fromkeys(wanted.values())
    for family in text_string_to_metric_families(text or ""):
        for sample in family.samples:
            if sample.name in wanted and sample.labels.get("handler", _HANDLER) == _HANDLER:
                name = wanted[sample.name]
                found[name] = (found[name] or 0.0) + sample.value
    return found


async def _scrape(ctx: Context, node: str, port: int) -> str | None:
    try:
        answer = await ctx.links[node].agent("http", port=port, method="GET", path="/metrics", timeout_s=10)
    except AgentError as error:
        if error.code in ("refused", "timeout", "broken"):
            return None
        raise
    return str(answer["text"]) if answer["status"] == 200 else None


async def read(ctx: Context, block: Block, node: str, name: str) -> dict[str, float | None]:
    """Read the counters of an engine, keep them in the record, and return those that a pass needs.

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
    return engine_counters(text)


async def read_store(ctx: Context) -> dict[str, float | str | None]:
    """The store's counts of everything that it did for anybody; nothing when it does not answer."""
    try:
        async with tiers.store_of(ctx) as store:
            info = await store.info()
    except RemoteError:
        return {}
    return {
        "store_run_id": info.run_id,
        "store_get_calls": info.get_calls,
        "store_net_out_bytes": info.net_out_bytes,
        "store_wall_s": time.time(),
    }
