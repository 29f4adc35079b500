"""Rows about the machine itself: the way there, its clock, its Python, who uses it, its ports, its GPUs."""

from __future__ import annotations

from kvtui.engine_options import gpu_memory_share, pipeline_parallel, tensor_parallel
from kvtui.findings import Finding, Level
from kvtui.nodefacts import Gpu, NodeFacts
from kvtui.plan import Plan
from kvtui.preflight.answers import Holder
from kvtui.preflight.row import CheckRow, State, state_of
from kvtui.units import DASH, gib

MOST_SKEW_MS = 50.0


def clock_row(node: str, facts: NodeFacts) -> CheckRow:
    """Whether the node's clock agrees; its events are joined with others by time."""
    title = "ssh, clock within 50 ms"
    if facts.clock_skew_s is None:
        return CheckRow("ssh", title, node, State.UNKNOWN, "clock unknown")
    skew_ms = facts.clock_skew_s * 1000
    finding = None
    # What the round trip hides is nobody's fault.
    if abs(skew_ms) - (facts.rtt_ms or 0.0) / 2 > MOST_SKEW_MS:
        text = f"The clock is {skew_ms:+,.0f} ms off: samples of different nodes are joined by time."
        finding = Finding(Level.WARNING, "clock-skew", text, "Let chrony or ntpd set it.", node)
    return CheckRow("ssh", title, node, state_of(finding), f"{abs(skew_ms):,.0f} ms", finding)


def python_row(node: str, facts: NodeFacts) -> CheckRow:
    """The Python that kvtui's own agent runs on."""
    return CheckRow("python", "Python for kvtui's agent", node, State.OK, facts.python or DASH)


def lock_row(node: str, holder: Holder) -> CheckRow:
    """Whether another run has the node."""
    title = "no other run"
    if not holder.run:
        return CheckRow("lock", title, node, State.OK, "free")
    text = f"It is taken by run {holder.run} of {holder.owner}."
    remedy = f"Wait for it, or end it there: kvtui stop {holder.run}"
    finding = Finding(Level.BLOCKING, "node-busy", text, remedy, node)
    return CheckRow("lock", title, node, State.FAILED, f"run {holder.run}", finding)


def ports_row(node: str, ports: tuple[int, ...]) -> CheckRow:
    """The ports that were found free; at the start others are looked for in the same way."""
    return CheckRow("ports", "free ports", node, State.OK, ", ".join(map(str, ports)))


def _used_gpus(plan: Plan, facts: NodeFacts) -> tuple[Gpu, ...]:
    """The GPUs that vLLM takes: as many as it has ranks, from the first."""
    ranks = tensor_parallel(plan.engine.extra_args) * pipeline_parallel(plan.engine.extra_args)
    return (facts.gpus or ())[:ranks]


def gpu_rows(plan: Plan, node: str, facts: NodeFacts) -> tuple[CheckRow, ...]:
    """Whether the GPUs have the memory that vLLM asks for, and whether others use them.

    vLLM does not start where less than ``--gpu-memory-utilization`` of a GPU is free (vLLM 0.28.0
    ``v1/worker/utils.py``).
    """
    memory, others = ("gpu-memory", "GPU memory free"), ("gpu-foreign", "GPU not shared")
    if facts.gpus is None:
        word = "nvidia-smi silent"
        return tuple(CheckRow(*check, node, State.UNKNOWN, word) for check in (memory, others))
    if not facts.gpus:
        return _without_gpu(node, facts, memory, others)
    gpus = _used_gpus(plan, facts)
    return _memory_row(plan, node, gpus, *memory), _foreign_row(node, gpus, *others)


def _without_gpu(
    node: str, facts: NodeFacts, memory: tuple[str, str], others: tuple[str, str]
) -> tuple[CheckRow, ...]:
    quiet = CheckRow(*others, node, State.SKIPPED, "no GPU")
    if "vllm" not in facts.versions:
        return CheckRow(*memory, node, State.SKIPPED, "no GPU"), quiet
    text = "No GPU is seen there, and the engine's vLLM is the one for GPUs."
    finding = Finding(Level.WARNING, "no-gpu", text, "Look at nvidia-smi on the node.", node)
    return CheckRow(*memory, node, State.WARNING, "no GPU", finding), quiet


def _memory_row(plan: Plan, node: str, gpus: tuple[Gpu, ...], id_: str, title: str) -> CheckRow:
    ranks = tensor_parallel(plan.engine.extra_args) * pipeline_parallel(plan.engine.extra_args)
    share = gpu_memory_share(plan.engine.extra_args)
    if len(gpus) < ranks:
        text = f"The engine wants {ranks} GPUs, the node has {len(gpus)}."
        remedy = "Mend --tensor-parallel-size in extra_args below [engine]."
        finding = Finding(Level.BLOCKING, "too-few-gpus", text, remedy, node)
        return CheckRow(id_, title, node, State.FAILED, f"{len(gpus)} of {ranks} GPUs", finding)
    worst: tuple[int, Gpu, int, int] | None = None
    for gpu in gpus:
        if gpu.memory_total_bytes is None or gpu.memory_used_bytes is None:
            return CheckRow(id_, title, node, State.UNKNOWN, "memory unknown")
        free = gpu.memory_total_bytes - gpu.memory_used_bytes
        left = free - int(gpu.memory_total_bytes * share)
        if worst is None or left < worst[0]:
            worst = left, gpu, free, gpu.memory_total_bytes
    if worst is None:
        raise AssertionError
    left, gpu, free, total = worst
    lack: Finding | None = None
    if left < 0:
        text = (
            f"GPU {gpu.index} has {gib(free)} free of {gib(total)}; vLLM wants {share:g} of it, "
            f"{gib(total * share)}, and does not start with less."
        )
        remedy = "Free the GPU, or give --gpu-memory-utilization in extra_args."
        lack = Finding(Level.BLOCKING, "gpu-memory", text, remedy, node)
    return CheckRow(id_, title, node, state_of(lack), f"{gib(free)} of {gib(total)}", lack)


def _foreign_row(node: str, gpus: tuple[Gpu, ...], id_: str, title: str) -> CheckRow:
    if any(gpu.foreign is None for gpu in gpus):
        return CheckRow(id_, title, node, State.UNKNOWN, "processes unknown")
    others = {process.pid: process for gpu in gpus for process in gpu.foreign or ()}
    finding = None
    if others:
        named = ", ".join(f"{process.name} ({process.pid})" for process in others.values())
        text = f"Other processes use the GPU, and make TTFT vary: {named}."
        finding = Finding(Level.WARNING, "gpu-foreign", text, "End them, or take another node.", node)
    count = len(others)
    word = f"{count} process{'es' if count > 1 else ''}" if others else "nobody else"
    return CheckRow(id_, title, node, state_of(finding), word, finding)
