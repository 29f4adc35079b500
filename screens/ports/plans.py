"""What the Plan screen asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kvtui.check import Known
from kvtui.hosts_file import NodeEntry
from kvtui.plan import Plan


class Plans(Protocol):
    """The plans that a person keeps, and what is known beside them."""

    def names(self) -> tuple[str, ...]:
        """Names of the saved plans, sorted."""

    def load(self, name: str) -> Plan:
        """A saved plan.

        Raises:
            KvtuiError: There is none of that name, or it is not valid.
        """

    def save(self, name: str, plan: Plan) -> Plan:
        """Keep a plan under a name; one that is there is replaced. Returns it as it is kept.

        Raises:
            KvtuiError: The name is none, or the file cannot be written.
        """

    def shipped(self) -> Mapping[str, Plan]:
        """kvtui's own plans by name, the one to begin with first."""

    def nodes(self) -> tuple[NodeEntry, ...]:
        """The nodes that a person entered, for their names and ways.

        Raises:
            KvtuiError: Their file is broken.
        """

    async def known(self, plan: Plan) -> Known:
        """What is known of the plan's nodes, store and model as far as it was read already.

        Raises:
            KvtuiError: A file of kvtui's own is broken.
        """

    def export(self, plan: Plan) -> str:
        """Write the plan as TOML where the person is; returns the file's path.

        Raises:
            KvtuiError: It cannot be written.
        """

    def toml(self, plan: Plan) -> str:
        """The plan as TOML."""

    def commands(self, plan: Plan, known: Known) -> str:
        """The exact commands and files with which its engines start.

        Raises:
            KvtuiError: They cannot be told.
        """
