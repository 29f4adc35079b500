"""Findings, merged by cause: worst first, with count, times and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from kvtui.findings import SIGNS, Level
from kvtui.live.told import LiveFinding
from kvtui.live.view import LiveView
from kvtui.loglines import clean
from screens.figures import clock
from screens.widgets.live.lines import Borders

_STYLES = {Level.BLOCKING: "$error", Level.WARNING: "$warning", Level.INFO: "$primary"}


def finding_text(found: LiveFinding, width: int) -> Content:
    """Sign, where and what, how often; below it the remedy and the times, in grey."""
    finding = found.finding
    # What the sentence names itself need not stand before it.
    places = [place for place in finding.where.split(" · ") if place and place not in finding.text]
    where = f"{clean(' · '.join(places))}: " if places else ""
    count = f"  ×{found.count:,}" if found.count > 1 else ""
    first, last = clock(found.first_wall_s), clock(found.last_wall_s)
    times = first if first == last else f"{first}–{last}"
    remedy = clean(finding.remedy)
    below = f"{remedy}  {times}" if remedy and times else remedy or times
    told = Content.assemble(f"{where}{clean(finding.text)}", (count, "bold"))
    rows = [*told.wrap(width - 2), *(Content.styled(below, "$muted").wrap(width - 2) if below else ())]
    sign = Content.styled(f"{SIGNS[finding.level]} ", _STYLES[finding.level])
    return Content("\n").join(Content.assemble(sign if at == 0 else "  ", row) for at, row in enumerate(rows))


class FindingsPanel(OptionList):
    """A list of findings; the cursor stays on its finding while others come."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
        Binding("g", "first", show=False),
        Binding("G", "last", show=False),
    ]

    @dataclass
    class Opened(Message):
        """A finding was opened."""

        found: LiveFinding

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="panel", markup=False)
        self._found: tuple[LiveFinding, ...] | None = None
        self.monochrome = False
        self._borders = Borders(self)
        self._borders.show(Content("Findings"), Content(""))

    @property
    def current(self) -> LiveFinding | None:
        """The finding under the cursor, or the first."""
        if not self._found:
            return None
        return self._found[min(self.highlighted or 0, len(self._found) - 1)]

    def on_resize(self) -> None:
        """Wrap anew."""
        found, self._found = self._found, None
        if found is not None:
            self._fill(found)

    def show(self, view: LiveView) -> bool:
        """Show the findings of a view; whether they are others."""
        if view.findings == self._found:
            return False
        self._fill(view.findings)
        return True

    def _fill(self, findings: tuple[LiveFinding, ...]) -> None:
        before = self.current.finding if self.current else None
        self._found = findings
        width = max(20, self.size.width - self.styles.gutter.width - 1)
        self.set_options([Option(finding_text(found, width)) for found in findings])
        if not findings:
            self.add_option(Option(Content.styled("Nothing to report so far.", "$muted"), disabled=True))
        kept = (i for i, found in enumerate(findings) if _same(found, before))
        self.highlighted = next(kept, 0) if findings else None
        worst = sum(found.finding.level is not Level.INFO for found in findings)
        title = Content.assemble(
            "Findings",
            (f"  {worst} to act on" if worst else "", "$warning"),
            (f"  {len(findings) - worst} to know" if len(findings) > worst else "", "$muted"),
        )
        self._borders.show(title, Content("enter log lines · y copies the remedy" if findings else ""))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open a finding."""
        event.stop()
        if self._found and event.option_index < len(self._found):
            self.post_message(self.Opened(self._found[event.option_index]))

    def copy_text(self) -> str:
        """The remedy's command, or the finding."""
        return clean(self.current.command) if self.current else ""


def _same(found: LiveFinding, before: object) -> bool:
    """Whether it is the finding that the cursor was on; its text may have a new figure meanwhile."""
    code, where = getattr(before, "code", None), getattr(before, "where", None)
    return (found.finding.code, found.finding.where) == (code, where)
