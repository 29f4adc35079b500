"""All findings of a run in one order: recorded ones, those of its logs, and those that its figures make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from kvtui.campaign.steps import Step, StepKind, blocks
from kvtui.findings import Finding, Level, from_json
from kvtui.journal import Event
from kvtui.live.judgement import Judged, NodeTroubles, figure_findings
from kvtui.live.numbers import number
from kvtui.live.told import LineRef, LiveFinding
from kvtui.plan import Plan, Topology
from kvtui.rules.context import RunContext
from kvtui.rules.finding import LineFinding
from kvtui.rules.merge import LogFindings
from kvtui.samples import Pass
from kvtui.validity.checks import RunChecks

_RANK = {Level.BLOCKING: 0, Level.WARNING: 1, Level.INFO: 2}
_DAY_S = 86_400.0


@dataclass(slots=True)
class _Recorded:
    count: int
    first_wall_s: float | None
    last_wall_s: float | None


class FindingBook:
    """Collects findings.

    Attributes:
        unread: Events that could not be read.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._tiers = {block.name: block.tier for block in blocks(plan)}
        self._recorded: dict[Finding, _Recorded] = {}
        self._same_keys: dict[str, bool] = {}
        self._step: Step | None = None
        self._pass: Pass | None = None
        self._wall_s: float | None = None
        self._logs = LogFindings(RunContext())
        self.unread = 0

    def take(self, event: Event) -> None:
        """A finding that was recorded."""
        finding, wall_s = from_json(event["finding"]), number(event.get("wall_s"))
        found = self._recorded.setdefault(finding, _Recorded(0, wall_s, wall_s))
        found.count += 1
        found.last_wall_s = wall_s

    def set_step(self, step: Step | None, event: Event) -> None:
        """The run came to a step, or ended one."""
        self._step, self._pass = step, None
        self._wall_s = number(event.get("wall_s")) or self._wall_s
        if event["kind"] == "step_done" and event.get("step_kind") == StepKind.FINGERPRINT.name:
            roots = {root for one in event["record"].values() for root in one.get("none_hashes", ()) if one}
            if roots and step is not None and step.block is not None:
                self._same_keys[step.block.tier] = len(roots) == 1

    def set_pass(self, step: Pass) -> None:
        """The run came to a pass."""
        self._pass = step

    def _context(self, process: str) -> RunContext:
        """The run as it was for the engine of a process."""
        block = process.partition(".")[0]
        tier = self._tiers.get(block, "")
        now = self._step is not None and self._step.block is not None and self._step.block.name == block
        seeds = {self._plan.hash.seed_for(node) for node in self._plan.engine_nodes}
        return RunContext(
            fleet=Topology.FLEET in self._plan.passes.topologies,
            seeded=len(seeds) == 1 and None not in seeds,
            same_keys=self._same_keys.get(tier),
            tier=tier,
            tier_kind=self._plan.tier(tier).kind if tier else None,
            step=self._pass if now else None,
            stopping=now and self._step is not None and self._step.kind is StepKind.STOP,
        )

    def feed_log(self, node: str, process: str, first_line: int, lines: Sequence[str]) -> None:
        """Take the next lines of a log."""
        self._logs.set_context(self._context(process))
        self._logs.feed(node, process, first_line, lines)

    def of_lines(self) -> tuple[Finding, ...]:
        """What the log lines mean that were taken, above info."""
        return tuple(one.finding for one in self._from_logs() if one.finding.level is not Level.INFO)

    def all(
        self, judged: Iterable[Judged], troubles: Iterable[NodeTroubles], checks: RunChecks
    ) -> tuple[LiveFinding, ...]:
        """Every finding: the graver first, then by the time at which it was seen first."""
        found = [*self._from_events(), *self._from_logs(), *from_figures(judged, troubles, checks)]
        return tuple(sorted(found, key=_order))

    def _from_events(self) -> Iterator[LiveFinding]:
        for finding, seen in self._recorded.items():
            yield _live(finding, seen.count, seen.first_wall_s, seen.last_wall_s)
        if self.unread:
            text = f"{self.unread} events of the record could not be read and are left out."
            yield _live(Finding(Level.WARNING, "events-unread", text), self.unread, None, None)

    def _from_logs(self) -> Iterator[LiveFinding]:
        for one in self._logs.findings():
            refs = dict.fromkeys((one.first, one.last))
            yield LiveFinding(
                finding=_of_line(one),
                count=one.count,
                first_wall_s=_near(one.first_at, self._wall_s),
                last_wall_s=_near(one.last_at, self._wall_s),
                lines=tuple(LineRef(one.node, ref.process, ref.number) for ref in refs),
                command=one.command or one.finding().line(),
            )
        more = self._logs.unlisted
        if more.lines:
            kinds = f"{more.kinds:,}" if more.exact else f"more than {more.kinds:,}"
            text = f"{more.lines:,} more lines of {kinds} kinds are not known to kvtui."
            yield _live(Finding(Level.INFO, "unknown-lines", text), more.lines, None, None)


def _of_line(one: LineFinding) -> Finding:
    where = f"{one.node}, {one.tier}" if one.tier else one.node
    return Finding(one.level, one.code, one.text, one.remedy, where)


def _live(finding: Finding, count: int, first: float | None, last: float | None) -> LiveFinding:
    return LiveFinding(finding, count, first, last, (), finding.line())


def from_figures(
    judged: Iterable[Judged], troubles: Iterable[NodeTroubles], checks: RunChecks
) -> Iterator[LiveFinding]:
    """What the figures of a run say by themselves, as every screen and table has it."""
    for one in judged:
        for finding in figure_findings(one):
            yield _live(finding, 1, one.book.wall_s, one.book.wall_s)
    for finding, wall_s in checks.findings():
        yield _live(finding, 1, wall_s, wall_s)
    for node in troubles:
        for finding, count, times in node.findings():
            first, last = times or (None, None)
            yield _live(finding, count, first, last)


def _order(one: LiveFinding) -> tuple[int, float, str, str]:
    never = float("inf")
    first = never if one.first_wall_s is None else one.first_wall_s
    return _RANK[one.finding.level], first, one.finding.code, one.finding.where


def _near(stamp: str, wall_s: float | None) -> float | None:
    """Clock time of a log's ``MM-DD HH:MM:SS``, which names no year and no zone; nodes keep UTC.

    ``None`` when that is more than a day from when the run was last heard of: another zone or year, then.
    """
    if wall_s is None:
        return None
    year = datetime.fromtimestamp(wall_s, UTC).year
    try:
        found = datetime.strptime(f"{year}-{stamp}", "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
    return found if abs(found - wall_s) <= _DAY_S else None
