"""Plans for the app's screen: the saved ones, kvtui's own, and what is known beside them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kvtui.check import Known, shape_of
from kvtui.errors import PlanError
from kvtui.hosts_file import NodeEntry
from kvtui.paths import Places
from kvtui.plan import Plan, load_plan, validated
from kvtui.plan_commands import script
from kvtui.plan_toml import to_toml
from kvtui.recordings import PLANS
from kvtui.services.app_nodes import AppNodes
from kvtui.services.hosts import HostsStore
from kvtui.services.known import known_here
from kvtui.services.plans import PlanStore, write_whole

_SHIPPED = ("lab", "seed")
_MOST_FILES = 1000


class AppPlans:
    """The plans of a person.

    Args:
        places: kvtui's places.
        nodes: What the app has read of nodes.
    """

    def __init__(self, places: Places, nodes: AppNodes) -> None:
        self._places = places
        self._nodes = nodes
        self._store = PlanStore(places.plans)

    def names(self) -> tuple[str, ...]:
        """Names of the saved plans, sorted."""
        return self._store.names()

    def load(self, name: str) -> Plan:
        """A saved plan.

        Raises:
            PlanError: There is none of that name, or it is not valid.
        """
        return self._store.load(name)

    def save(self, name: str, plan: Plan) -> Plan:
        """Keep a plan under a name; one that is there is replaced.

        Raises:
            PlanError: The name is none, or the file cannot be written.
        """
        self._store.path(name)
        kept = validated(plan.model_copy(update={"name": name}))
        self._store.save(kept)
        return kept

    def shipped(self) -> Mapping[str, Plan]:
        """kvtui's own plans by name."""
        return {name: load_plan(PLANS / f"{name}.toml") for name in _SHIPPED}

    def nodes(self) -> tuple[NodeEntry, ...]:
        """The nodes of ``hosts.toml``.

        Raises:
            HostsError: It is broken.
        """
        return tuple(HostsStore(self._places.config).load())

    async def known(self, plan: Plan) -> Known:
        """What this machine knows, and what the app has read of the plan's nodes and store.

        Raises:
            HostsError: ``hosts.toml`` is broken.
        """
        here = await asyncio.to_thread(known_here, plan, self._places)
        facts = self._nodes.facts_of(plan)
        homes = {name: home for name, home in self._nodes.homes.items() if name in facts}
        place = f"{plan.store.node} {plan.store.address}:{plan.store.port}" if plan.store else ""
        return replace(here, facts=facts, homes=homes, store=self._nodes.stores.get(place))

    def export(self, plan: Plan) -> str:
        """Write the plan as TOML into the working directory; no file there is overwritten.

        Raises:
            PlanError: It cannot be written.
        """
        path = _free(Path.cwd(), plan.name)
        write_whole(path, to_toml(plan, commented=True))
        return str(path)

    def toml(self, plan: Plan) -> str:
        """The plan as TOML."""
        return to_toml(plan, commented=True)

    def commands(self, plan: Plan, known: Known) -> str:
        """The exact commands and files with which its engines start.

        Raises:
            PlanError: They cannot be told.
        """
        sized = shape_of(plan, known)
        return script(plan, sized[0] if sized else None)


def _free(directory: Path, name: str) -> Path:
    for number in range(1, _MOST_FILES):
        path = directory / (f"{name}.toml" if number == 1 else f"{name}-{number}.toml")
        if not path.exists():
            return path
    raise PlanError(f"{directory} holds a thousand exports of {name}.", "Remove some, or export elsewhere.")
