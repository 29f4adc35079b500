"""One request whole, with its evidence."""

from __future__ import annotations

from kvtui.attribution import reusable_tokens
from kvtui.campaign.steps import blocks
from kvtui.live.logs import RequestLog
from kvtui.live.requests import Request, parts_of
from kvtui.live.told import RequestDetail
from kvtui.loglines import GIB
from kvtui.plan import Plan, TierKind


def request_detail(plan: Plan, request: Request, log: RequestLog) -> RequestDetail:
    """Everything that is known of a request."""
    sample, seen = request.sample, request.evidence
    tiers = {block.name: block.tier for block in blocks(plan)}
    tier = tiers.get(request.source.block, "")
    has_cache = bool(tier) and plan.tier(tier).kind is not TierKind.NONE
    prompt_tokens = sample.prompt_tokens if sample else request.prompt_tokens
    reusable = None if prompt_tokens is None else reusable_tokens(prompt_tokens, plan.hash.chunk_tokens)
    rate = None
    if seen.retrieve_gib is not None and seen.retrieve_ms:
        rate = seen.retrieve_gib * GIB / seen.retrieve_ms * 1000
    return RequestDetail(
        request_id=request.request_id,
        tier=tier,
        topology=request.source.topology,
        step=request.source.step.value,
        node=request.source.node,
        document=request.document,
        place=request.place,
        sign=request.sign(has_cache=has_cache),
        verdict=request.verdict,
        evidence=sample.reason if sample else request.failure,
        ttft_ms=request.known_ttft_ms,
        total_ms=request.total_ms,
        prompt_tokens=prompt_tokens,
        reusable_tokens=sample.reusable_tokens if sample else reusable,
        reused_tokens=sample.reused_tokens if sample else None,
        hit_tokens=seen.hit_tokens,
        retrieved_tokens=seen.retrieved_tokens,
        retrieve_ms=seen.retrieve_ms,
        retrieve_bytes_s=rate,
        stored_tokens=seen.stored_tokens,
        store_ms=seen.store_ms,
        parts=parts_of(request),
        lines=tuple(log.lines),
    )
