"""What is known beside a plan: read from its nodes, or found in kvtui's own files."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from kvtui import lab
from kvtui.campaign.lab_target import target_of_lab
from kvtui.campaign.target import Target, target_of_plan
from kvtui.ceiling_store import CeilingStore
from kvtui.check import Known, Measured, measured_of
from kvtui.errors import KvtuiError
from kvtui.journal import TELEMETRY, iter_events
from kvtui.nodefacts import NodeFacts
from kvtui.paths import Places
from kvtui.plan import Plan
from kvtui.record import records
from kvtui.run_state import state_of
from kvtui.services.hosts import HostsStore
from kvtui.services.nodes import Wanted, read_all
from kvtui.services.stores import read_store
from kvtui.storefacts import StoreFacts
from remote.asking import Asker
from remote.errors import NodeUnreachable, RemoteError
from remote.lab.info import read
from remote.link import Link, home

# A machine that ran hundreds of campaigns is not searched for hours.
_LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read.

    Attributes:
        known: What is known now.
        failures: What could not be read, by node; the store's failure is that of ``store``.
    """

    known: Known
    failures: Mapping[str, RemoteError]


def known_here(plan: Plan, where: Places) -> Known:
    """What this machine knows without asking a node: an earlier run, ceilings, prices.

    Raises:
        HostsError: ``hosts.toml`` is broken.
    """
    prices = {
        entry.name: entry.hourly_price
        for entry in HostsStore(where.config).load()
        if entry.hourly_price is not None
    }
    ceilings, fault = CeilingStore(where.state).look()
    return Known(
        ceilings=ceilings,
        measured=last_measured(plan, where),
        prices=prices,
        faults=(fault,) if fault else (),
    )


def last_measured(plan: Plan, where: Places) -> Measured | None:
    """The latest finished run of the plan's model, one of documents as long before any other."""
    found = None
    for record in records(where.runs)[: -_LOOKED_AT - 1 : -1]:
        try:
            # Rows alone are wanted, and most of a long record is telemetry.
            ran = record.plan()
            events = [event for event in iter_events(record.events) if event["kind"] not in TELEMETRY]
            same = (ran.model.served_name, ran.lab) == (plan.model.served_name, plan.lab)
            if not same or state_of(events)[0] != "done":
                continue
            measured = measured_of(record.run, ran, events)
        except KvtuiError:
            continue  # a record that is damaged, or of another version, says nothing here
        if measured.speaks_of(plan):
            return measured
        found = found or measured
    return found


async def read_known(plan: Plan, where: Places, asker: Asker | None = None) -> Reading:
    """Ask the plan's nodes and its store what they are made of, all at once.

    Args:
        plan: The plan.
        where: kvtui's places.
        asker: Who is asked about host keys and passphrases; without one they are refused.

    Raises:
        HostsError: ``hosts.toml`` is broken.
        PlanError: A node's ``ssh`` in the plan is none.
        NodeUnreachable: The plan is for the lab, which is not up.
    """
    known = known_here(plan, where)
    target = await _target(plan, where)
    links = {name: Link(host, asker) for name, host in target.hosts.items()}
    try:
        found, store = await asyncio.gather(
            read_all(links, _wanted(plan, target)), _store(plan, target, links)
        )
        facts = {name: one for name, one in found.items() if isinstance(one, NodeFacts)}
        failures = {name: one for name, one in found.items() if isinstance(one, RemoteError)}
        homes = dict(zip(facts, await asyncio.gather(*(home(links[name]) for name in facts)), strict=True))
        if isinstance(store, RemoteError):
            # What keeps a node from being read keeps its store from it too, and is told once.
            if target.store_node not in failures:
                failures["store"] = store
            store = None
        return Reading(replace(known, facts=facts, homes=homes, store=store), failures)
    finally:
        for link in links.values():
            await link.close()


def _wanted(plan: Plan, target: Target) -> dict[str, Wanted]:
    roots = (target.model_path,) if target.model_path.startswith(("/", "~")) else ()
    return {node: Wanted(target.engine_python[node], roots) for node in plan.engine_nodes}


async def _store(plan: Plan, target: Target, links: Mapping[str, Link]) -> StoreFacts | RemoteError | None:
    if not plan.needs_store:
        return None
    variable = plan.store.password_env if plan.store else None
    password = os.environ.get(variable, "") if variable else ""
    try:
        return await read_store(links[target.store_node], target.store_address, target.store_port, password)
    except RemoteError as error:
        return error


async def _target(plan: Plan, where: Places) -> Target:
    if not plan.lab:
        return target_of_plan(plan)
    info = read(lab.lab_paths(where).info) if await lab.is_up(where) else None
    if info is None:
        raise NodeUnreachable("The lab is not up, so its nodes cannot be read.", "Start it: kvtui lab up")
    return target_of_lab(info, plan.engine_nodes)
