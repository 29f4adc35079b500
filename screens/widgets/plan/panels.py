"""The panels beside the form: fit, forecast, keys, findings. Drawn when they say something else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set

from rich.console import Group, RenderableType
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from kvtui.check import Assessment
from kvtui.findings import Finding, Level
from kvtui.plan import Plan
from screens.widgets.plan.finding_list import FindingList
from screens.widgets.plan.outlook import (
    fit_lines,
    forecast_lines,
    kv_lines,
    sharing_lines,
    verdict_line,
)
from screens.widgets.text_panel import TextPanel

_VIEWS = ("fit", "forecast", "keys")
_NOTHING = "Nothing was found that speaks against this plan."
# Columns from which two views are seen at once, and from which all are.
NORMAL, WIDE = 100, 140


class PlanPanels(Horizontal):
    """The panels.

    Args:
        in_words: A duration in words.
    """

    def __init__(self, in_words: Callable[[float], str], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._in_words = in_words
        self._view = "fit"
        self._shown: tuple[Plan, Assessment, bool, bool] | None = None
        self._fixable: Set[int] | None = None

    def compose(self) -> ComposeResult:
        """Two columns of two, or one."""
        with Vertical(id="outlook"):
            yield from self._panel("fit")
            yield from self._panel("forecast", "A Arithmetic")
        with Vertical(id="judgement"):
            yield from self._panel("keys")
            with Vertical(id="findings-panel", classes="panel"):
                yield FindingList(id="findings")

    def _panel(self, name: str, below: str = "") -> Iterable[TextPanel]:
        panel = TextPanel(id=f"{name}-panel", classes="panel view")
        panel.border_title, panel.border_subtitle = name.title(), below
        yield panel

    @property
    def _narrow(self) -> bool:
        return self.screen.size.width < NORMAL

    @property
    def _wide(self) -> bool:
        return self.screen.size.width >= WIDE

    def on_resize(self, event: events.Resize) -> None:
        """What there is room for."""
        self._draw_view()
        if self._shown is not None:
            plan, found, narrow, wide = self._shown
            if (narrow, wide) != (self._narrow, self._wide):
                self._draw(plan, found)

    def show(self, plan: Plan, found: Assessment, fixable: Callable[[Finding], bool]) -> None:
        """Show what was found.

        Args:
            plan: The plan.
            found: What was found of it.
            fixable: Whether a finding can be fixed.
        """
        before = self._shown[1] if self._shown else None
        self._draw(plan, found)
        can = {at for at, one in enumerate(found.findings) if fixable(one)}
        if before is None or (before.findings, self._fixable) != (found.findings, can):
            self._fixable = can
            self._draw_findings(found.findings, can)

    def _draw(self, plan: Plan, found: Assessment) -> None:
        before, as_it_is = self._shown, (self._narrow, self._wide)
        self._shown = (plan, found, *as_it_is)
        old = before[1] if before is not None and before[2:] == as_it_is else None
        app = self.app
        if old is None or (old.kv, old.fits, old.sharing) != (found.kv, found.fits, found.sharing):
            short = [Text(), verdict_line(app, found.sharing)] if self._narrow and found.sharing else []
            tiers = fit_lines(app, found, reasons=self._wide)
            parts = (kv_lines(app, plan, found.kv), *([] if self._narrow else [Text()]), tiers, *short)
            self._tell("fit", Group(*parts))
        if old is None or old.sharing != found.sharing:
            self._tell("keys", sharing_lines(app, found.sharing))
        if old is None or (old.forecast, old.recommendation) != (found.forecast, found.recommendation):
            self._tell("forecast", forecast_lines(app, found, self._in_words))

    def _tell(self, name: str, text: RenderableType) -> None:
        self.query_one(f"#{name}-panel", TextPanel).show(text)

    def _draw_findings(self, findings: tuple[Finding, ...], fixable: Set[int]) -> None:
        self.query_one(FindingList).show(findings, fixable, _NOTHING)
        blocking = sum(1 for one in findings if one.level is Level.BLOCKING)
        panel = self.query_one("#findings-panel")
        panel.border_title = f"Findings ({len(findings)})"
        panel.border_subtitle = f"{blocking} of them block the launch" if blocking else ""

    def redraw(self) -> None:
        """Draw all of them anew."""
        if self._shown is not None:
            plan, found, *_ = self._shown
            self._shown = None
            self._draw(plan, found)
            self._draw_findings(found.findings, self._fixable or set())

    def next_view(self) -> None:
        """Show the next view; with more room the fit stays, and only the one below it changes."""
        if self._narrow:
            self._view = _VIEWS[(_VIEWS.index(self._view) + 1) % len(_VIEWS)]
        else:
            self._view = "forecast" if self._view == "keys" else "keys"
        self._draw_view()

    def _draw_view(self) -> None:
        for name in _VIEWS:
            self.query_one(f"#{name}-panel").set_class(name != self._view, "-behind")
        for part in ("#outlook", "#judgement"):
            self.query_one(part).set_class(self._view == "keys", "-keys")
