"""What every step of a run works with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from kvtui.campaign.layout import NodeLayout
from kvtui.campaign.steps import Block, Step
from kvtui.campaign.target import Target
from kvtui.findings import Finding, from_json
from kvtui.journal import Journal
from kvtui.kvsize import KvShape
from kvtui.plan import Plan, Tier
from kvtui.record import RunRecord
from remote.link import Link

T = TypeVar("T")


class Reporter(Protocol):
    """Who tells the person what happens."""

    def say(self, text: str) -> None:
        """Something worth a line."""

    def phase(self, text: str) -> None:
        """What is happening this second; replaces what was said before."""


@dataclass
class Context:
    """A run under way.

    Attributes:
        plan: What it is to do.
        target: Where its nodes are.
        record: Its directory here.
        journal: Its events.
        links: SSH links by node.
        homes: Home directory of each node.
        reporter: Who tells the person.
        shape: KV shape of the model, once known.
        store_password: Password of the store, or empty; it is in no record.
    """

    plan: Plan
    target: Target
    record: RunRecord
    journal: Journal
    links: dict[str, Link]
    reporter: Reporter
    homes: dict[str, str] = field(default_factory=dict)
    shape: KvShape | None = None
    store_password: str = field(default="", repr=False)

    @property
    def run(self) -> str:
        """Id of the run; also the marker of its processes."""
        return self.record.run

    @property
    def lease_s(self) -> float:
        """Time after which an engine that nobody claims ends."""
        return self.plan.engine.lease_min * 60

    def layout(self, node: str) -> NodeLayout:
        """Paths of this run on a node."""
        return NodeLayout(self.homes[node], self.run, node)

    def attempt(self, block: Block) -> int:
        """Which try of a block this is, from 1."""
        return 1 + sum(1 for event in self.journal.of_kind("block_restarted") if event["block"] == block.name)

    def key(self, step: Step) -> str:
        """Name of a step in the record."""
        return step.key(self.attempt(step.block) if step.block else 1)

    def done(self, step: Step) -> dict[str, Any] | None:
        """The record of a step that is done, or ``None``."""
        key = self.key(step)
        for event in self.journal.of_kind("step_done"):
            if event["step"] == key:
                return dict(event["record"])
        return None

    def tier(self, block: Block) -> Tier:
        """The tier of a block."""
        return self.plan.tier(block.tier)

    def find(self, finding: Finding) -> None:
        """Record a finding and say it, once."""
        known = {from_json(event["finding"]) for event in self.journal.of_kind("finding")}
        if finding not in known:
            self.journal.append("finding", finding=finding.to_json())
            self.reporter.say(finding.line())


async def each(nodes: tuple[str, ...], work: Callable[[str], Coroutine[Any, Any, T]]) -> dict[str, T]:
    """Do the same on several nodes at once; the first failure ends the others and is raised as it is.

    Returns:
        What each node gave.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = {node: group.create_task(work(node)) for node in nodes}
    except BaseExceptionGroup as failures:
        raise _first(failures) from None
    return {node: task.result() for node, task in tasks.items()}


def _first(failure: BaseException) -> BaseException:
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return failure
