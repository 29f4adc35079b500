"""Live: the run under way, or any other one, on one screen."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from functools import partial
from typing import ClassVar, cast

from textual import events, on
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from kvtui.live.view import LiveView
from kvtui.loglines import clean
from screens.background import in_background
from screens.base import KvtuiScreen, host
from screens.commands import Command, bindings
from screens.figures import span
from screens.live_watch import Followed, LiveWatch
from screens.modals.question import confirm
from screens.modals.request import RequestModal
from screens.session import Session
from screens.widgets.live.breakdown import BreakdownPanel
from screens.widgets.live.findings import FindingsPanel
from screens.widgets.live.head import HeadLines
from screens.widgets.live.histogram import HistogramPanel
from screens.widgets.live.logs import LogsPanel
from screens.widgets.live.node_table import NodeTable
from screens.widgets.live.nodes import NodesPanel
from screens.widgets.live.panel import Panel
from screens.widgets.live.series import SeriesPanel
from screens.widgets.live.throughput import ThroughputPanel

# Textual paints sixty times a second at most.
_PAINT_S = 0.02
# What is made without a painting between.
_TURN_S = 0.008

AnyPanel = Panel | FindingsPanel | LogsPanel
_JUMPS = (
    ("d", "series", "Documents"),
    ("c", "throughput", "Ceilings"),
    ("b", "breakdown", "Breakdown"),
    ("f", "findings", "Findings"),
    ("i", "nodes", "Nodes"),
    ("e", "logs", "Engine log"),
)
_NO_RUN = (
    "No run yet on this machine.\n\n"
    "  3  Launch starts the plan that is open, and comes back here\n"
    "  2  Plan chooses tiers, capacities and nodes\n"
    "  6  History opens a run of before, and replays it"
)


def _jump(key: str, panel: str, title: str) -> Command:
    return Command(f"live.{panel}", key, title, f"Go to {title.lower()}.", f"jump('{panel}')", shown=False)


class LiveScreen(KvtuiScreen):
    """What a run does, and what it has measured so far.

    Args:
        session: What the screens share.
        watch: Reads the run.
    """

    MODE = "live"
    CSS_PATH = "live.tcss"
    ACTIONS: ClassVar[tuple[Command, ...]] = (
        Command("live.pause", "space", "Pause", "Freeze the screen; the run goes on.", "pause"),
        Command(
            "live.tier_before", "left_square_bracket", "Tier", "Show the tier before.", "tier(-1)", label="["
        ),
        Command(
            "live.tier_next", "right_square_bracket", "Tier", "Show the next tier.", "tier(1)", label="]"
        ),
        Command(
            "live.topology", "t", "Topology", "Single node, fleet, or all tiers side by side.", "topology"
        ),
        Command("live.copy", "y", "Copy", "Copy the remedy, the request, or what the panel shows.", "copy"),
        Command("live.save", "s", "Save", "Save the screen as a picture and as text.", "save"),
        Command(
            "live.stop", "x", "Stop", "Stop the run and undo what it did; asks first.", "stop", changes=True
        ),
        Command("live.maximise", "m", "Maximise", "The panel alone, or all again.", "maximise", shown=False),
        Command("live.restore", "escape", "All panels", "Show all panels again.", "restore", shown=False),
        Command("live.find", "slash", "Find", "Find in the log.", "find", shown=False, label="/"),
        Command("live.warning", "w", "Next warning", "Go to the log's next warning.", "warning", shown=False),
        *(_jump(*jump) for jump in _JUMPS),
    )
    BINDINGS: ClassVar[list[BindingType]] = bindings(ACTIONS)

    def __init__(self, session: Session, watch: LiveWatch) -> None:
        super().__init__(session)
        self._watch = watch
        self._tier: str | None = None
        self._topology: str | None = None
        self._run = ""
        self._frozen: LiveView | None = None
        self._alone: str | None = None
        self._turn = 0

    def compose_body(self) -> Iterable[Widget]:
        """Head, panels, log; or what to do without a run."""
        yield Static(_NO_RUN, id="no-run", markup=False)
        with Vertical(id="live"):
            yield HeadLines()
            with Horizontal(id="top", classes="group"):
                with Vertical(id="left", classes="group"):
                    yield HistogramPanel(id="histogram")
                    yield SeriesPanel(id="series")
                with Vertical(id="right", classes="group"):
                    yield ThroughputPanel(id="throughput")
                    yield BreakdownPanel(id="breakdown")
                    yield FindingsPanel(id="findings")
                with Vertical(id="side", classes="group"):
                    yield NodeTable(id="node-table")
            yield NodesPanel(id="nodes")
            yield LogsPanel(id="logs")
            yield Static(id="hint")

    def on_mount(self) -> None:
        """Follow what is read."""
        for panel in self._panels():
            panel.monochrome = self.app.no_color
        self._watch.listen(self._follow)
        self._hint()
        self._changed()

    def on_unmount(self) -> None:
        """Follow it no more."""
        self._watch.unlisten(self._follow)

    def on_screen_resume(self) -> None:
        """Show what happened while another mode was in front."""
        self._changed()

    def _panels(self) -> list[AnyPanel]:
        return [cast(AnyPanel, widget) for widget in self.query(".panel")]

    def _hint(self) -> None:
        keys = {active.binding.id: active.binding for active in self.active_bindings.values()}
        parts: list[tuple[str, str]] = []
        for _, panel, title in _JUMPS:
            if panel != "findings" and (binding := keys.get(f"live.{panel}")):
                parts += [(self.app.get_key_display(binding), "$accent"), (f" {title}  ", "$muted")]
        self.query_one("#hint", Static).update(Content.assemble(*parts))

    async def _follow(self) -> None:
        """Draw what was read, with a painting now and then, so that keys are not kept waiting."""
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        for _ in self._drawing():
            if loop.time() - began_s >= _TURN_S:
                await asyncio.sleep(_PAINT_S)
                began_s = loop.time()

    def _changed(self) -> None:
        """Draw at once."""
        with self.app.batch_update():
            for _ in self._drawing():
                pass

    def _drawing(self) -> Iterator[None]:
        """Draw whatever differs, with a turn after each panel; ends where a later drawing has begun."""
        if not self.is_current and self._run:
            return
        shown = self._watch.shown
        self.set_class(shown is None or not shown.begun, "-empty")
        if shown is None or not shown.begun:
            trouble = self._watch.trouble or (shown.trouble if shown else "")
            self.query_one("#no-run", Static).update(f"{clean(trouble)}\n\n{_NO_RUN}" if trouble else _NO_RUN)
            return
        if shown.run != self._run:
            self._run, self._tier, self._topology, self._frozen = shown.run, None, None, None
        self._turn = turn = self._turn + 1
        view = self._of(shown)
        self.query_one(HeadLines).show(self._frozen or view, self._notice(view, shown))
        if self._frozen is not None:
            return
        for panel in self._panels():
            differs = panel.show(view, shown) if isinstance(panel, LogsPanel) else panel.show(view)
            if differs:
                yield
            if turn != self._turn:
                return

    def _notice(self, view: LiveView, shown: Followed) -> str:
        """What a person must know of the screen itself."""
        if self._frozen is not None:
            behind = (view.head.elapsed_s or 0.0) - (self._frozen.head.elapsed_s or 0.0)
            return f"paused, {span(behind)} behind"
        if shown.trouble:
            return clean(shown.trouble)
        if view.head.state == "running" and not shown.follower_alive:
            return f"! nothing carries it on: 6 and a, or kvtui attach {clean(shown.run)}"
        return ""

    def _view(self) -> LiveView | None:
        shown = self._watch.shown
        if shown is None or not shown.begun:
            return None
        return self._frozen or self._of(shown)

    def _of(self, shown: Followed) -> LiveView:
        """The chosen tier; without a choice the one under way, or before its first answer the latest one."""
        view = shown.view(self._tier, self._topology)
        empty = not view.histogram.cold_ms and not view.histogram.cached_ms
        if self._tier is None and empty and view.multiples:
            here = [data for data in view.multiples if data.topology == view.histogram.topology]
            latest = (here or view.multiples)[-1]
            return shown.view(latest.tier, latest.topology)
        return view

    def action_pause(self) -> None:
        """Freeze, or go on."""
        view = self._view()
        self._frozen = None if self._frozen is not None else view
        self._changed()

    def _choose(self, tier: str | None, topology: str | None) -> None:
        self._tier, self._topology, self._frozen = tier, topology, None
        self._changed()

    def action_tier(self, step: int) -> None:
        """Show another tier of the same topology; past the last one, the one under way again."""
        view = self._view()
        if view is None:
            return
        tiers = [mark.tier for mark in view.tiers if mark.topology == view.histogram.topology]
        if tiers:
            at = tiers.index(view.histogram.tier) if view.histogram.tier in tiers else 0
            self._choose(tiers[(at + step) % len(tiers)], view.histogram.topology)

    def action_topology(self) -> None:
        """Single node, fleet, then all tiers side by side."""
        view = self._view()
        histogram = self.query_one(HistogramPanel)
        if view is None:
            return
        topologies = list(dict.fromkeys(mark.topology for mark in view.tiers))
        at = topologies.index(view.histogram.topology) if view.histogram.topology in topologies else 0
        together = not histogram.all_tiers and at + 1 == len(topologies)
        histogram.all_tiers = together
        self.set_class(together, "-together")
        if not together:
            self._choose(self._tier, topologies[(at + 1) % len(topologies)])

    def _focused_panel(self) -> AnyPanel | None:
        focused = self.focused
        if focused is None:
            return None
        near = (
            node
            for node in focused.ancestors_with_self
            if isinstance(node, Panel | FindingsPanel | LogsPanel)
        )
        return next(near, None)

    def action_copy(self) -> None:
        """Copy what the focused panel offers; without one, the first finding's remedy."""
        panel = self._focused_panel() or self.query_one(FindingsPanel)
        text = panel.copy_text()
        if text.strip():
            host(self.app).copy(text, "the remedy" if isinstance(panel, FindingsPanel) else "the panel")

    def action_save(self) -> None:
        """Save the screen."""
        host(self.app).save_screen()

    def action_stop(self) -> None:
        """Ask, then stop the run."""
        view = self._view()
        if view is None or view.head.state != "running" or self.session.replay:
            self.notify("There is no run under way here.", markup=False)
            return
        in_background(self, partial(self._stop, self._run), "stop")

    async def _stop(self, run: str) -> None:
        lines = (f"Stop run {clean(run)}?", *(clean(line) for line in self._watch.runs.what_stops(run)))
        if await self.app.push_screen_wait(confirm("Stop", lines, "Stop the run")) == "do":
            self.notify(f"Stopping run {clean(run)} …", markup=False)
            await self._watch.runs.stop(run)

    def action_jump(self, panel: str) -> None:
        """Go to a panel; in a narrow terminal it comes alone."""
        target = self.query_one(f"#{panel}")
        if panel == "nodes" and not target.display and self.has_class("-wide"):
            target = self.query_one(NodeTable)
        if self.has_class("-narrow") or self._alone is not None:
            self._show_alone(target)
        self._focus(target)

    def _focus(self, panel: Widget) -> None:
        (panel.lines if isinstance(panel, LogsPanel) else panel).focus()

    def action_maximise(self) -> None:
        """The focused panel alone, or all again."""
        if self._alone is not None:
            self.action_restore()
        else:
            panel = self._focused_panel() or self.query_one(HistogramPanel)
            self._show_alone(panel)
            self._focus(panel)

    def action_restore(self) -> None:
        """All panels again."""
        self._show_alone(None)

    def _show_alone(self, panel: Widget | None) -> None:
        self._alone = None if panel is None else panel.id
        for widget in self.query(".panel, .group"):
            around = panel is not None and (widget is panel or widget in panel.ancestors)
            widget.set_class(panel is not None and not around, "-away")
            widget.set_class(around, "-alone")
        self.call_after_refresh(self._changed)

    def on_click(self, event: events.Click) -> None:
        """Two clicks maximise."""
        if event.chain == 2 and self._focused_panel() is not None:
            self.action_maximise()

    def action_find(self) -> None:
        """Find in the log."""
        self.action_jump("logs")
        self.query_one(LogsPanel).start_find()

    def action_warning(self) -> None:
        """Go to the log's next warning."""
        self.action_jump("logs")
        if not self.query_one(LogsPanel).next_warning():
            self.notify("No warning among the lines of this log in memory.", markup=False)

    @on(FindingsPanel.Opened)
    def open_finding(self, event: FindingsPanel.Opened) -> None:
        """Go to the finding's log lines."""
        if not event.found.lines:
            self.notify("This one comes from the figures, not from a log.", markup=False)
            return
        self.action_jump("logs")
        logs = self.query_one(LogsPanel)
        if not any(logs.jump(ref) for ref in event.found.lines):
            ref = event.found.lines[0]
            where = f"Line {ref.line:,} of {clean(ref.node)}"
            self.notify(f"{where} is no longer in memory; the whole log is with the run.", markup=False)

    @on(SeriesPanel.Opened)
    def open_document(self, event: SeriesPanel.Opened) -> None:
        """Show the document's cached request, or its cold one."""
        shown = self._watch.shown
        request = event.point.cached_request or event.point.cold_request
        detail = shown.request(request) if shown and request else None
        if detail is None:
            self.notify("Nothing is known of this request yet.", markup=False)
        else:
            self.app.push_screen(RequestModal(detail))
