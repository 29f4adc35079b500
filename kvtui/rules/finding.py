"""A finding made of log lines: many lines of one cause, on one node."""

from __future__ import annotations

from dataclasses import dataclass

from kvtui.findings import Finding, Level


@dataclass(frozen=True, slots=True)
class LineRef:
    """Where a line stands.

    Attributes:
        process: Name of the log: the process that wrote it.
        number: Its number in that log.
    """

    process: str
    number: int


@dataclass(frozen=True, slots=True)
class LineFinding:
    """What some lines of a log say, merged by cause.

    Attributes:
        code: Stable name of the cause; ``unknown-line`` for what no rule knows.
        level: How much it matters for this run.
        node: The node that wrote them.
        component: Which part speaks.
        tier: Name of the tier that was measured, or empty.
        text: What it means, with figures of the first such line.
        remedy: What to do, or empty.
        command: A command to copy, or empty.
        count: Lines of this cause.
        first_at: Time of the first one by the node's clock, ``MM-DD HH:MM:SS``; empty when none is known.
        last_at: Time of the last one.
        first: Where the first one stands.
        last: Where the last one stands.
        line: The first one, as a person may see it.
        detail: The exception that followed, or empty.
    """

    code: str
    level: Level
    node: str
    component: str
    tier: str
    text: str
    remedy: str
    command: str
    count: int
    first_at: str
    last_at: str
    first: LineRef
    last: LineRef
    line: str
    detail: str = ""

    def finding(self) -> Finding:
        """The same among the findings of a plan or a run."""
        times = f" ({self.count:,} lines)" if self.count > 1 else ""
        where = f"{self.node}, {self.tier}" if self.tier else self.node
        return Finding(self.level, self.code, f"{self.text}{times}", self.remedy, where)


@dataclass(frozen=True, slots=True)
class Unlisted:
    """Unknown lines beyond the kinds that are listed.

    Attributes:
        kinds: How many kinds more; at least so many when ``exact`` is false.
        lines: How many lines of them.
        exact: Whether the kinds were all told apart.
    """

    kinds: int = 0
    lines: int = 0
    exact: bool = True
