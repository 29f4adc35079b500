"""The checks of a headless launch, told on standard error."""

from __future__ import annotations

from collections.abc import Mapping

from kvtui.campaign.context import Reporter
from kvtui.check import Known, assess
from kvtui.errors import PreflightError
from kvtui.findings import Level
from kvtui.launch import store_password
from kvtui.paths import Places
from kvtui.plan import Plan
from kvtui.preflight import CheckRow, State, verdict
from kvtui.services.links import LinkPool
from kvtui.services.preflight import Preflight
from remote.asking import Asker


async def before_launch(
    plan: Plan, where: Places, reporter: Reporter, asker: Asker | None, *, on_lab: bool
) -> Mapping[str, str] | None:
    """Check a plan before it is launched: on its nodes, or on the lab by the plan alone.

    Returns:
        The passphrases that the person gave meanwhile; ``None`` where nobody was asked for anything.

    Raises:
        PlanError: Its store's password is not set.
        PreflightError: Something stops it.
        RemoteError: A node cannot be reached, or has no Python.
    """
    if plan.lab or on_lab:
        _check_plan(plan, reporter)
        return None
    store_password(plan)
    pool = LinkPool(asker)
    try:
        await _check_nodes(plan, Preflight(where, pool), reporter)
    finally:
        await pool.close()
    return asker.passphrases if asker else None


def _check_plan(plan: Plan, reporter: Reporter) -> None:
    """What needs no node; the rest is found when the lab is there, and recorded."""
    blocking = [one for one in assess(plan, Known()).findings if one.level is Level.BLOCKING]
    for finding in blocking:
        reporter.say(finding.line())
    if blocking:
        first = blocking[0]
        raise PreflightError(f"Launch is blocked: {first.text}", first.remedy)


async def _check_nodes(plan: Plan, preflight: Preflight, reporter: Reporter) -> None:
    def told(rows: tuple[CheckRow, ...]) -> None:
        found = verdict(rows)
        reporter.phase(f"checks: {found.counts()}")

    reporter.say(f"Checking plan {plan.name} on {', '.join(plan.nodes)}")
    rows = await preflight.check(plan, on_lab=False, told=told)
    found = verdict(rows)
    reporter.say(f"Checks: {found.counts()}")
    said = dict.fromkeys(
        row.finding.line() for row in rows if row.finding and row.state in (State.WARNING, State.FAILED)
    )
    for line in said:
        reporter.say(line)
    if preflight.failures:
        raise next(iter(preflight.failures.values()))
    if found.blocking:
        first = found.blocking[0]
        text = first.finding.text if first.finding else first.measured
        remedy = first.finding.remedy if first.finding else ""
        raise PreflightError(f"{found.sentence()} {first.node or plan.name}: {text}", remedy)
