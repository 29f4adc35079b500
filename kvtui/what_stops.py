"""What stopping a run ends and removes, in words, before anybody is asked."""

from __future__ import annotations

from kvtui.plan import Plan, TierKind


def what_stops(run: str, plan: Plan) -> tuple[str, ...]:
    """Hosts, processes, paths and keys, one a line; nothing else is touched.

    Args:
        run: Id of the run.
        plan: Its plan.
    """
    lines = [
        f"{node}: vLLM with LMCache, the probe and the watcher of this run; ~/.kvtui/runs/{run}.{node}"
        for node in plan.engine_nodes
    ]
    lines += [
        f"{node}: {tier.path}/kvtui-{run}, this run's files of tier {tier.name}"
        for tier in plan.tiers
        if tier.kind is TierKind.DISK
        for node in plan.engine_nodes
    ]
    if plan.needs_store:
        where = plan.store.node if plan.store else "the lab's Valkey"
        lines.append(f"{where}: the keys that end in @run%{run}.*, no others")
    return tuple(lines)
