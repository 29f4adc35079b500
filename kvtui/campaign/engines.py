"""The engines of a block: started on all its nodes at once, watched until they serve, stopped."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable
from typing import Any

from kvtui.campaign.context import Context, each
from kvtui.campaign.layout import expand_home
from kvtui.campaign.steps import Block, block_nodes
from kvtui.engine_command import EngineHost, engine_argv
from kvtui.engine_phase import FIRST, phase_of
from kvtui.errors import StepTimeout
from kvtui.findings import Finding, Level
from kvtui.fit import staging_gib
from kvtui.lmcache_config import Placement, config_for, to_yaml
from kvtui.loglines import clean, parse_line
from kvtui.plan import TierKind
from remote.engine_failure import root_cause
from remote.errors import AgentError, EngineFailed
from remote.process import Process, Status
from remote.tail import FileCopy

_POLL_S = 1.0
_FULL_TURN = 5
# Uvicorn's line; a hint that asking is worth while, not a proof.
STARTED = b"Application startup complete"
_STOP_GRACE_S = 5.0
# Printed by LMCache 0.5.x (v1/manager.py) when it gave up while the engine serves on without a cache.
DEGRADED = "System will operate in degraded mode"
# The line of LMCache 0.5.x (v1/storage_backend/remote_backend.py) that really means a connection.
CONNECTED = "Connection initialized/re-established at"


def engine(ctx: Context, block: Block, node: str) -> Process:
    """The engine process of a block on a node."""
    return Process(ctx.links[node], ctx.layout(node).engine_dir(block.name, ctx.attempt(block)))


def log_copy(ctx: Context, block: Block, node: str) -> FileCopy:
    """The copy of an engine's log in the run's record."""
    attempt = ctx.attempt(block)
    remote_path = f"{ctx.layout(node).engine_dir(block.name, attempt)}/log"
    local_path = ctx.record.log(node, block.name, attempt)
    return FileCopy(ctx.links[node], remote_path, local_path, ctx.store_password)


def ports(ctx: Context, block: Block, node: str) -> tuple[int, int]:
    """The engine's port and the first of LMCache's, as planned for this attempt.

    Raises:
        KeyError: None are planned yet.
    """
    attempt = ctx.attempt(block)
    for event in ctx.journal.of_kind("engine_planned"):
        if (event["block"], event["attempt"], event["node"]) == (block.name, attempt, node):
            return event["port"], event["internal_port"]
    raise KeyError(node)


async def _plan_ports(ctx: Context, block: Block, node: str) -> tuple[int, int]:
    try:
        return ports(ctx, block, node)
    except KeyError:
        # One port for the API; for LMCache's one of its scheduler and, from the next on, one a worker.
        workers = ctx.shape.ranks if ctx.shape else 1
        answer = await ctx.links[node].agent("free-ports", runs=[1, 1 + workers])
        port, internal_port = answer["bases"]
        ctx.journal.append(
            "engine_planned",
            block=block.name,
            attempt=ctx.attempt(block),
            node=node,
            port=port,
            internal_port=internal_port,
        )
        return port, internal_port


async def _start(ctx: Context, block: Block, node: str) -> bool:
    """Start one engine, or find it running; whether it ran already."""
    tier, link, layout = ctx.tier(block), ctx.links[node], ctx.layout(node)
    port, internal_port = await _plan_ports(ctx, block, node)
    config_path = ""
    if tier.kind is not TierKind.NONE and ctx.shape is not None:
        config_path = layout.lmcache_config(block.name, ctx.attempt(block))
        longest = ctx.shape.rank_bytes_per_token * ctx.plan.corpus.prompt_tokens
        placement = Placement(
            internal_port=internal_port,
            disk_dir=layout.disk_dir(tier.path) if tier.path else "",
            store_address=f"{ctx.target.store_address}:{ctx.target.store_port}",
            staging_gib=staging_gib(tier, longest),
            store_password=ctx.store_password,
        )
        text = to_yaml(config_for(tier, ctx.plan.hash, placement))
        await link.upload(text.encode(), config_path)
    host = EngineHost(
        python=expand_home(ctx.target.engine_python[node], layout.home),
        port=port,
        config_path=config_path,
        model_path=ctx.target.model_path,
        connector_module=ctx.target.connector_module,
        env=dict(ctx.target.engine_env),
    )
    process = engine(ctx, block, node)
    started = await process.start(
        engine_argv(ctx.plan, node, tier.kind, host), env={}, marker=ctx.run, lease_s=ctx.lease_s
    )
    return started.already


def ended(status: Status) -> str:
    """How an engine ended, in words."""
    return "ended" if status.exit_code is None else f"ended with exit code {status.exit_code}"


def end_from_outside(status: Status) -> str:
    """Who ended an engine that did not end by itself, in words, or nothing."""
    endings = {"lease": "nobody claimed it for its lease", "stopped": "it was stopped"}
    return endings.get(status.reason or "", "")


def _failed(node: str, lines: Iterable[str], status: Status) -> EngineFailed:
    cause = root_cause([clean(line) for line in lines])
    why = end_from_outside(status) or cause.sentence
    return EngineFailed(f"The engine on {node} {ended(status)}: {why}.", "", cause.lines)


def _unfit(ctx: Context, block: Block, node: str, lines: list[str], served: str) -> EngineFailed | None:
    if served != ctx.plan.model.served_name:
        return EngineFailed(
            f"On {node} an engine answers for model {served!r}, not {ctx.plan.model.served_name!r}."
        )
    for number, raw in enumerate(lines):
        if DEGRADED in raw:
            cause = root_cause([clean(line) for line in lines[: number + 1]])
            return EngineFailed(
                f"LMCache failed to start on {node}, and the engine serves without it: {cause.sentence}.",
                "",
                cause.lines,
            )
    if ctx.tier(block).kind is TierKind.VALKEY and not any(CONNECTED in line for line in lines):
        where = f"{ctx.target.store_address}:{ctx.target.store_port}"
        return EngineFailed(
            f"The engine on {node} never connected to Valkey at {where}.",
            "Check that this address and port can be reached from that node.",
        )
    return None


def _last_words(lines: list[str]) -> str:
    for raw in reversed(lines[-40:]):
        message = parse_line(raw).message.strip()
        if message and "Route:" not in message:
            return message[:70]
    return FIRST


async def served_model(ctx: Context, node: str, port: int) -> str | None:
    """Name of the model that an engine serves, ``None`` while it does not serve."""
    link = ctx.links[node]
    try:
        health = await link.agent("http", port=port, method="GET", path="/health", timeout_s=5)
        if health["status"] != 200:
            return None
        models = await link.agent("http", port=port, method="GET", path="/v1/models", timeout_s=5)
    except AgentError as error:
        if error.code in ("refused", "timeout", "broken"):
            return None
        raise
    return str(json_of(models)["data"][0]["id"]) if models["status"] == 200 else None


def json_of(answer: dict[str, Any]) -> dict[str, Any]:
    """The JSON object in an engine's answer."""
    parsed: dict[str, Any] = json.loads(answer["text"])
    return parsed


async def _serves(ctx: Context, block: Block, node: str, copy: FileCopy, waited_s: float) -> bool:
    """Whether an engine truly serves yet.

    Raises:
        EngineFailed: It ended, or serves without what the plan asks for.
        StepTimeout: It did neither in the plan's time.
    """
    status = await engine(ctx, block, node).status()
    if status.state != "running":
        await copy.update()
        raise _failed(node, copy.lines(), status)
    served = await served_model(ctx, node, ports(ctx, block, node)[0])
    if served is not None:
        await copy.update()
        unfit = _unfit(ctx, block, node, copy.lines(), served)
        if unfit is not None:
            if served == ctx.plan.model.served_name:
                ctx.find(Finding(Level.BLOCKING, "engine-degraded", unfit.message, unfit.hint, node))
            raise unfit
        return True
    if waited_s > ctx.plan.engine.start_timeout_s:
        raise StepTimeout(
            f"The engine on {node} does not serve after {waited_s:.0f} s: {_last_words(copy.lines())}.",
            "Raise start_timeout_s below [engine], or read its log in the run's record.",
        )
    return False


async def _wait_until_serving(ctx: Context, block: Block, node: str, doing: dict[str, str]) -> float:
    """Wait until the engine on a node truly serves; the seconds that it took, by the clock here.

    Args:
        ctx: The run.
        block: The block.
        node: The node.
        doing: What the engines that start beside each other are doing, in words; this node's is kept up.
    """
    copy = log_copy(ctx, block, node)
    began_s = phase_began_s = time.monotonic()
    turn = seen_bytes = 0
    phase = ""
    while True:
        # The copy is kept up beside this loop.
        new = copy.read(seen_bytes)
        seen_bytes += len(new)
        before, phase = phase, phase_of(copy.lines())
        if phase != before:
            phase_began_s = time.monotonic()
        doing[node] = f"{node}: {phase}, {time.monotonic() - phase_began_s:.0f} s"
        ctx.reporter.phase(" · ".join(doing.values()))
        # Each question costs the starting engine some of its own processor, so most turns ask only one.
        if turn % _FULL_TURN == 0 or STARTED in new:
            waited_s = time.monotonic() - began_s
            if await _serves(ctx, block, node, copy, waited_s):
                doing[node] = f"{node}: serving"
                return waited_s
        turn += 1
        await asyncio.sleep(_POLL_S)


async def start(ctx: Context, block: Block) -> dict[str, Any]:
    """Start the engines of a block on all its nodes at once, and wait until they serve."""

    doing: dict[str, str] = {}

    async def one(node: str) -> dict[str, Any]:
        already = await _start(ctx, block, node)
        seconds = await _wait_until_serving(ctx, block, node, doing)
        return {"ready_after_s": round(seconds, 1), "already": already}

    return await each(block_nodes(ctx.plan, block), one)


async def stop(ctx: Context, block: Block) -> dict[str, Any]:
    """Stop the engines of a block, prove it, and keep their logs."""

    async def one(node: str) -> dict[str, Any]:
        killed = await engine(ctx, block, node).stop(_STOP_GRACE_S)
        await log_copy(ctx, block, node).update()
        return {"killed": killed}

    return await each(block_nodes(ctx.plan, block), one)
