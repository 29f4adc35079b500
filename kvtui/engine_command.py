"""The command that starts an engine: arguments and environment."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from kvtui.plan import Plan, TierKind

# EngineCore and the API server write to one log; without colours and buffers it can be followed.
BASE_ENV = {
    "PYTHONUNBUFFERED": "1",
    "NO_COLOR": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "LMCACHE_TRACK_USAGE": "false",
    "LMCACHE_DISABLE_BANNER": "1",
}


@dataclass(frozen=True, slots=True)
class EngineHost:
    """What the command needs to know of the node.

    Attributes:
        python: Interpreter of the engine's environment.
        port: Port of the OpenAI API, on loopback.
        config_path: LMCache's configuration file; empty with LMCache off.
        model_path: What ``--model`` gets. It is part of every key, so it must be the same on all nodes.
        connector_module: Module with the KV connector where vLLM's own does not fit; else empty.
        env: Environment that this kind of host needs beside the common one.
    """

    python: str
    port: int
    config_path: str
    model_path: str
    connector_module: str = ""
    env: dict[str, str] = field(default_factory=dict)


def engine_env(plan: Plan, node: str, host: EngineHost) -> dict[str, str]:
    """Environment of the engine, its hash seed included."""
    env = BASE_ENV | host.env
    if host.config_path:
        env["LMCACHE_CONFIG_FILE"] = host.config_path
    seed = plan.hash.seed_for(node)
    if seed is not None:
        env["PYTHONHASHSEED"] = seed
    return env


def engine_argv(plan: Plan, node: str, kind: TierKind, host: EngineHost) -> tuple[str, ...]:
    """The engine's command line.

    The seed stands on the command line, behind ``env``, since an SSH server drops variables that it does not
    know; an inherited seed is removed when the plan wants none. The GPU's own prefix cache is off, so that a
    hit is LMCache's. A chunk lost between lookup and read is recomputed, where vLLM 0.28.0 would fail the
    request (``config/kv_transfer.py``).
    """
    env = engine_env(plan, node, host)
    unset = () if "PYTHONHASHSEED" in env else ("-u", "PYTHONHASHSEED")
    argv = ["env", *unset, *(f"{name}={value}" for name, value in sorted(env.items()))]
    argv += [host.python, "-m", "vllm.entrypoints.openai.api_server"]
    argv += ["--model", host.model_path, "--served-model-name", plan.model.served_name]
    argv += ["--host", "127.0.0.1", "--port", str(host.port)]
    argv += ["--dtype", plan.engine.dtype, "--max-model-len", str(plan.engine.max_model_len)]
    argv += ["--no-enable-prefix-caching", "--enable-prompt-tokens-details"]
    argv += plan.engine.extra_args
    if kind is not TierKind.NONE:
        transfer = {
            "kv_connector": "LMCacheConnectorV1",
            "kv_role": "kv_both",
            "kv_load_failure_policy": "recompute",
        }
        if host.connector_module:
            transfer["kv_connector_module_path"] = host.connector_module
        argv += ["--kv-transfer-config", json.dumps(transfer)]
    return tuple(argv)
