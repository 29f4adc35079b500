"""What about a node itself would spoil a run, whatever the plan."""

from __future__ import annotations

from collections.abc import Iterator

from kvtui.findings import Finding, Level
from kvtui.nodefacts import Gpu, NodeFacts

GIB = 1024**3
# Times of two nodes that lie further apart make their logs hard to read side by side.
MOST_SKEW_S = 0.05
# Less is the rest of something that was put away long ago.
MOST_SWAP_BYTES = 1 * GIB
_MOST_NAMED = 3


def node_findings(facts: NodeFacts) -> tuple[Finding, ...]:
    """Findings in a stable order; what is unknown gives none, except GPUs that do not answer."""
    found = [*_gpus(facts), *_engine(facts), *_memory(facts), *_clock(facts)]
    return tuple(sorted(found, key=lambda finding: list(Level).index(finding.level)))


def _gpus(facts: NodeFacts) -> Iterator[Finding]:
    if facts.gpus is None:
        text = "The NVIDIA driver is loaded, and nvidia-smi does not answer."
        remedy = "Run nvidia-smi there; in a container, start it with --gpus all."
        yield Finding(Level.WARNING, "node-gpus-unknown", text, remedy, facts.name)
    for gpu in facts.gpus or ():
        if gpu.foreign:
            held = sum(process.memory_bytes or 0 for process in gpu.foreign)
            amount = f"{held / GIB:.1f} GiB" if held else "memory"
            text = f"{amount} of GPU {_name(gpu)} is held by {_holders(gpu)}, which no kvtui started."
            yield Finding(Level.WARNING, "node-gpu-foreign", text, "End it, or plan with less.", facts.name)


def _holders(gpu: Gpu) -> str:
    named = [f"{process.name or 'a process'} (pid {process.pid})" for process in gpu.foreign or ()]
    rest = len(named) - _MOST_NAMED
    return ", ".join(named[:_MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _name(gpu: Gpu) -> str:
    return "?" if gpu.index is None else str(gpu.index)


def _engine(facts: NodeFacts) -> Iterator[Finding]:
    if facts.engine_problem:
        text = f"There is no engine environment: {facts.engine_problem}."
        remedy = "Install vLLM and LMCache there, or mend the node's engine_python."
        yield Finding(Level.WARNING, "node-no-engine", text, remedy, facts.name)


def _memory(facts: NodeFacts) -> Iterator[Finding]:
    if facts.swap_used_bytes is not None and facts.swap_used_bytes > MOST_SWAP_BYTES:
        text = (
            f"{facts.swap_used_bytes / GIB:.1f} GiB lie in swap: memory was short, reading it back is slow."
        )
        yield Finding(Level.WARNING, "node-swap", text, "Free memory there, then swapoff -a.", facts.name)
    if facts.thp == "always":
        text = "Transparent huge pages are always on, which makes times of a store on this node uneven."
        remedy = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
        yield Finding(Level.INFO, "node-thp", text, remedy, facts.name)


def _clock(facts: NodeFacts) -> Iterator[Finding]:
    if facts.clock_skew_s is None or facts.rtt_ms is None:
        return
    # Half of the way is all that the measurement cannot tell.
    sure_s = abs(facts.clock_skew_s) - facts.rtt_ms / 2000
    if sure_s > MOST_SKEW_S:
        side = "ahead of" if facts.clock_skew_s > 0 else "behind"
        text = f"Its clock is {abs(facts.clock_skew_s):,.2f} s {side} this machine's."
        yield Finding(Level.WARNING, "node-clock", text, "Let chrony or NTP set both.", facts.name)
