"""The exact files and commands with which a plan's engines start, node by node and tier by tier."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from kvtui.engine_command import EngineHost, engine_argv
from kvtui.fit import staging_gib
from kvtui.kvsize import KvShape
from kvtui.lmcache_config import Placement, config_for, to_yaml
from kvtui.plan import Plan, Tier, TierKind

# Stand for the free ports that kvtui looks for on the node when it starts an engine.
PORT, INTERNAL_PORT = 8000, 7000
_RUN = "kvtui-RUN"
_PASSWORD = "KVTUI_STORE_PASSWORD"  # noqa: S105 - a mark that the variable's name replaces
_BARE_HOME = re.compile(r"~(/[\w./+-]*)?", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class EngineStart:
    """How one engine starts.

    Attributes:
        node: On which node.
        tier: For which tier.
        config_path: LMCache's configuration file; empty with LMCache off.
        config: Its YAML, in which the shell replaces ``$HOME`` and the password's variable.
        command: The command, for a POSIX shell.
    """

    node: str
    tier: str
    config_path: str
    config: str
    command: str


def engine_starts(plan: Plan, shape: KvShape | None) -> tuple[EngineStart, ...]:
    """Every engine that a run of the plan starts.

    Args:
        plan: The plan.
        shape: KV of its model; without it LMCache's buffer beside a disk or a store is left out.

    Raises:
        PlanError: A value does not survive the way through YAML.
    """
    return tuple(_start(plan, tier, node, shape) for tier in plan.tiers for node in plan.engine_nodes)


def script(plan: Plan, shape: KvShape | None) -> str:
    """All of it as one text to copy."""
    return "\n".join(_script(plan, shape)) + "\n"


def _script(plan: Plan, shape: KvShape | None) -> Iterator[str]:
    yield f"# Plan {plan.name}. Ports {PORT} and {INTERNAL_PORT} stand for free ones, RUN for the run's id."
    if plan.lab:
        yield "# On the lab kvtui fills in interpreter, model folder and connector."
    if plan.passes.repeats > 1:
        yield f"# A run has {plan.passes.repeats} repeats; each starts its engines anew, as follows."
    if shape is None:
        yield "# The model's KV size is unknown, so max_local_cpu_size of disk and valkey tiers is left out."
    for start in engine_starts(plan, shape):
        yield f"\n# {start.node}: {start.tier}"
        if start.config:
            yield f"cat > {start.config_path} <<EOF\n{start.config}EOF"
        yield start.command


def _start(plan: Plan, tier: Tier, node: str, shape: KvShape | None) -> EngineStart:
    config_path = "" if tier.kind is TierKind.NONE else f"lmcache-{tier.name}.yaml"
    entry = plan.nodes.get(node)
    host = EngineHost(
        python=entry.engine_python if entry else "python",
        port=PORT,
        config_path=config_path,
        model_path=plan.model.path,
    )
    return EngineStart(
        node=node,
        tier=tier.name,
        config_path=config_path,
        config=_config(plan, tier, shape) if config_path else "",
        command=" ".join(_word(word) for word in engine_argv(plan, node, tier.kind, host)),
    )


def _config(plan: Plan, tier: Tier, shape: KvShape | None) -> str:
    store = plan.store
    variable = store.password_env if store and store.password_env else ""
    longest = shape.rank_bytes_per_token * plan.corpus.prompt_tokens if shape else 0
    placement = Placement(
        internal_port=INTERNAL_PORT,
        disk_dir=f"{tier.path}/{_RUN}" if tier.path else "",
        store_address=f"{store.address}:{store.port}" if store else "STORE",
        staging_gib=staging_gib(tier, longest),
        store_password=_PASSWORD if variable else "",
    )
    config = config_for(tier, plan.hash, placement)
    if shape is None and tier.kind is not TierKind.DRAM:
        del config["max_local_cpu_size"]
    text = re.sub(r"([\\$`])", r"\\\1", to_yaml(config))
    text = re.sub(r"^(local_disk: '?)~/", r"\1$HOME/", text, flags=re.MULTILINE)
    return text.replace(_PASSWORD, f"${{{variable}}}") if _VARIABLE.fullmatch(variable) else text


def _word(word: str) -> str:
    """A word for the shell; a leading ``~`` of a path stays one."""
    return word if _BARE_HOME.fullmatch(word) else shlex.quote(word)
