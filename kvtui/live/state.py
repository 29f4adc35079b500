"""The state of a run as a screen follows it: fed with events and log lines, asked for a view at any time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kvtui.ceilings import Ceiling
from kvtui.ceilings import from_json as ceiling_from_json
from kvtui.feed import LogPiece
from kvtui.findings import Finding
from kvtui.journal import OWN, Event
from kvtui.live.course import Course
from kvtui.live.detail import request_detail
from kvtui.live.findings import FindingBook, from_figures
from kvtui.live.ledger import Ledger
from kvtui.live.load import Load
from kvtui.live.logs import Logs
from kvtui.live.numbers import positive, whole
from kvtui.live.sources import PassSource, pass_source
from kvtui.live.tiers import Moment, TierViews
from kvtui.live.told import LogRow, RequestDetail
from kvtui.live.view import LiveView
from kvtui.loglines import GIB
from kvtui.plan import Plan, TierKind
from kvtui.run_state import ENDS
from kvtui.samples import Pass
from kvtui.validity.checks import RunChecks


class LiveState:
    """Follows one run.

    Events may come in any order and any of them may be missing; what cannot be read is counted and left out.

    Args:
        plan: The plan of the run.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._course = Course(plan)
        self._ledger = Ledger(plan)
        self._load = Load(plan)
        self._logs = Logs()
        self._findings = FindingBook(plan)
        self._ceilings: list[Ceiling] = []
        self._bytes_per_token: dict[str, int] = {}
        self._latest: PassSource | None = None
        self._views = TierViews(plan, self._ledger, self._load)
        self._checks = RunChecks(plan)
        own: tuple[str, ...] = ("run_begin", "attached", "step_begin", "step_done", "block_restarted", *ENDS)
        self._own: dict[str, Callable[[Event], None]] = {
            **dict.fromkeys(own, self._course.take),
            "sample": self._ledger.take_sample,
            "finding": self._findings.take,
            "ceiling": self._ceiling,
            "geometry": self._geometry,
            "store_sample": self._load.store.take,
        }
        self._of_pass: dict[str, Callable[[PassSource, Event], None]] = {
            "pass_begin": self._begin_pass,
            "sent": self._ledger.take,
            "first_token": self._ledger.take,
            "done": self._settle,
            "failed": self._settle,
            "pass_end": self._load.end_pass,
        }

    def feed(self, events: Iterable[Event]) -> None:
        """Take the next events of the run's record."""
        for event in events:
            try:
                self._take(event)
                self._checks.take(event)
            except (LookupError, TypeError, ValueError, AttributeError):
                self._findings.unread += 1
        self._ledger.settle()

    def _take(self, event: Event) -> None:
        kind, source = event["kind"], event["src"]
        if kind == "node_sample":
            self._load.take_node(event)
        elif source == OWN:
            if kind in self._own:
                self._own[kind](event)
                if kind in ("step_begin", "step_done"):
                    self._findings.set_step(self._course.step, event)
        elif kind in self._of_pass:
            of_pass = pass_source(source)
            if of_pass is not None:
                self._of_pass[kind](of_pass, event)

    def _begin_pass(self, source: PassSource, event: Event) -> None:
        self._course.begin_pass(event["src"], source.node, event)
        self._load.begin_pass(source, event)
        if source.step in (Pass.COLD, Pass.CACHED):
            self._latest = source
            self._findings.set_pass(source.step)

    def _settle(self, source: PassSource, event: Event) -> None:
        self._ledger.take(source, event)
        self._course.settle(event["src"], event)

    def _ceiling(self, event: Event) -> None:
        found = ceiling_from_json({name: event[name] for name in Ceiling.__slots__})
        if positive(found.bytes_s) is None:
            raise ValueError(found.how)
        self._ceilings.append(found)

    def _geometry(self, event: Event) -> None:
        size = whole(event["bytes_per_token"])
        if size:
            self._bytes_per_token[event["tier"]] = size

    def feed_log(self, node: str, process: str, first_line: int, lines: Sequence[str]) -> None:
        """Take the next lines of a log.

        Args:
            node: Where the process runs.
            process: Block, try and kind, as in ``valkey-single.1.engine``.
            first_line: Number of the first of the lines in the whole file, from 1.
            lines: Whole lines, with or without their ends; those fed before are left out.
        """
        start = max(first_line, self._logs.last(node, process) + 1)
        fresh = lines[start - first_line :]
        if not fresh:
            return
        for request_id in self._logs.feed(node, process, start, fresh):
            self._ledger.take_log(request_id, self._logs.request(request_id))
        self._ledger.settle()
        self._findings.feed_log(node, process, start, fresh)

    def view(
        self, now_wall_s: float, tier: str | None = None, topology: str | None = None, now: str = ""
    ) -> LiveView:
        """Everything that the screen shows at a moment.

        Args:
            now_wall_s: The moment; of a run that is over its end is taken.
            tier: The tier to show; the one that the run works on when not given.
            topology: Likewise.
            now: What happens this second, in words.
        """
        running = self._course.running
        if not running and self._course.end_wall_s is not None:
            now_wall_s = min(now_wall_s, self._course.end_wall_s)
        head = self._course.head(now_wall_s, now)
        views = self._moment(now_wall_s)
        shown = views.shown(tier, topology)
        return LiveView(
            head=head,
            tiers=views.marks(shown),
            histogram=views.histogram(*shown),
            multiples=views.multiples(),
            series=views.series(*shown),
            parts=views.parts(shown[1]),
            throughput=views.throughput(*shown),
            nodes=self._load.node_strips(now_wall_s, self._dram_tier_bytes),
            store=self._load.store_strip(now_wall_s),
            findings=self._findings.all(views.judged(), self._load.troubles.values(), self._checks),
            logs=self._logs.heads(),
        )

    def _moment(self, now_wall_s: float) -> Moment:
        return self._views.at(now_wall_s, self._ceilings, self._bytes_per_token, self._course, self._latest)

    def figure_findings(self) -> tuple[Finding, ...]:
        """What the figures of the run say by themselves, beside what was recorded and what logs say."""
        judged = self._moment(self._course.end_wall_s or 0.0).judged()
        found = from_figures(judged, self._load.troubles.values(), self._checks)
        return tuple(one.finding for one in found)

    def line_findings(self, logs: Iterable[LogPiece]) -> tuple[Finding, ...]:
        """What lines of logs mean, above info; of the lines nothing else is kept."""
        for piece in logs:
            self._findings.feed_log(piece.node, piece.process, piece.first_line, piece.lines)
        return self._findings.of_lines()

    def _dram_tier_bytes(self, node: str) -> int | None:
        block = self._course.step.block if self._course.running and self._course.step else None
        if block is None or node not in self._plan.engine_nodes:
            return None
        tier = self._plan.tier(block.tier)
        if tier.kind is not TierKind.DRAM or tier.capacity_gib is None:
            return None
        return int(tier.capacity_gib * GIB)

    def request(self, request_id: str) -> RequestDetail | None:
        """One request whole, or ``None`` when nothing is known of it."""
        found = self._ledger.requests.get(request_id)
        return None if found is None else request_detail(self._plan, found, self._logs.request(request_id))

    def log_rows(
        self, node: str, process: str, after: int = 0, most: int | None = None
    ) -> tuple[LogRow, ...]:
        """The lines of a log that are in memory, from behind a line number, so many at most."""
        return self._logs.rows(node, process, after, most)

    def next_warning(self, node: str, process: str, after: int) -> int | None:
        """Number of the next line of level WARNING or above behind a line number, or ``None``."""
        return self._logs.next_warning(node, process, after)
