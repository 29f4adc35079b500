"""The questions of a preflight, each put to one node over its link."""

from __future__ import annotations

import hashlib
import json
import shlex

from kvtui.campaign.layout import expand_home
from kvtui.campaign.target import Target
from kvtui.engine_options import kv_cache_dtype, tensor_parallel
from kvtui.errors import PlanError
from kvtui.kvsize import kv_shape
from kvtui.loglines import clean
from kvtui.nodefacts import NodeFacts
from kvtui.plan import Plan
from kvtui.preflight import Holder, ModelConfig, RoundTrip
from kvtui.services.nodes import Wanted, read_facts
from kvtui.services.stores import read_store
from kvtui.storefacts import StoreFacts
from remote.link import Link

_VALUE_LIMIT_S = 30.0


async def ask_facts(link: Link, target: Target, node: str) -> NodeFacts:
    """What the node is made of; of an engine node also its environment and the models there.

    Raises:
        RemoteError: It cannot be asked.
    """
    python = target.engine_python.get(node)
    return await read_facts(link, Wanted(python) if python is not None else None)


async def ask_holder(link: Link) -> Holder:
    """Which run has the node.

    Raises:
        RemoteError: It cannot be asked.
    """
    answer = await link.agent("held")
    return Holder(clean(answer["run"] or ""), clean(answer["owner"] or ""))


async def ask_ports(link: Link, ranks: int) -> tuple[int, ...]:
    """Ports for an engine and for LMCache, free now.

    Raises:
        RemoteError: There are none, or the node cannot be asked.
    """
    answer = await link.agent("free-ports", runs=[1, 1 + ranks])
    return tuple(answer["bases"])


async def ask_model(link: Link, plan: Plan, target: Target, facts: NodeFacts, home: str) -> ModelConfig:
    """The model's ``config.json`` on the node, in its folder or in the hub's cache.

    Raises:
        RemoteError: The node cannot be asked.
    """
    path = expand_home(target.model_path, home)
    cached = next((model.path for model in facts.models or () if model.name == path), None)
    done = await link.run(shlex.join(["cat", f"{cached or path}/config.json"]))
    from_hub = not path.startswith(("/", "~", "."))
    if done.exit_status != 0:
        return ModelConfig("", from_hub=from_hub)
    digest = hashlib.sha256(done.stdout).hexdigest()
    try:
        config = json.loads(done.stdout)
        digest = hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()
        arguments = plan.engine.extra_args
        shape = kv_shape(
            config,
            f"{path}/config.json",
            plan.engine.dtype,
            kv_cache_dtype(arguments),
            tensor_parallel(arguments),
        )
    except PlanError as error:
        return ModelConfig(digest, problem=clean(error.message), from_hub=from_hub)
    except (ValueError, RecursionError):
        return ModelConfig(digest, problem="its config.json is not JSON.", from_hub=from_hub)
    return ModelConfig(digest, shape, from_hub=from_hub)


async def ask_store(link: Link, target: Target, password: str) -> StoreFacts:
    """What the store is.

    Raises:
        RemoteError: It does not answer, or its node does not.
    """
    return await read_store(link, target.store_address, target.store_port, password)


async def ask_value(link: Link, target: Target, password: str, size_bytes: int) -> RoundTrip:
    """A value of one chunk to the store and back, from an engine's node; removed again.

    Raises:
        RemoteError: The store cannot be reached from there, or takes no such value.
    """
    answer = await link.agent(
        "store-value",
        timeout_s=_VALUE_LIMIT_S,
        host=target.store_address,
        port=target.store_port,
        password=password,
        size_bytes=size_bytes,
    )
    return RoundTrip(answer["seconds"] * 1000, size_bytes)
