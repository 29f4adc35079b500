"""The findings of a plan, one under the cursor, to be fixed."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from kvtui.findings import SIGNS, Finding, Level
from kvtui.loglines import clean

_STYLES = {Level.BLOCKING: "$error", Level.WARNING: "$warning", Level.INFO: "$primary"}


class FindingList(OptionList):
    """Findings; what can be fixed says so."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
        Binding("g", "first", show=False),
        Binding("G", "last", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False, compact=True)
        self._findings: tuple[Finding, ...] = ()

    @property
    def current(self) -> Finding | None:
        """The finding under the cursor."""
        at = self.highlighted
        return self._findings[at] if at is not None and at < len(self._findings) else None

    def show(self, findings: Sequence[Finding], fixable: Set[int], nothing: str) -> None:
        """Show these findings.

        Args:
            findings: The findings.
            fixable: Places of those that can be fixed.
            nothing: What to say when there are none.
        """
        before = self.current
        self._findings = tuple(findings)
        self.clear_options()
        if not findings:
            self.add_option(Option(Content.styled(clean(nothing), "$muted"), disabled=True))
            return
        self.add_options(Option(_prompt(finding, at in fixable)) for at, finding in enumerate(findings))
        same = [at for at, one in enumerate(findings) if before and _key(one) == _key(before)]
        self.highlighted = same[0] if same else 0


def _key(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.where


def _prompt(finding: Finding, fixable: bool) -> Content:
    where = f"{clean(finding.where)}: " if finding.where else ""
    parts: list[str | tuple[str, str]] = [
        (f"{SIGNS[finding.level]} ", _STYLES[finding.level]),
        f"{where}{clean(finding.text)}",
    ]
    if fixable:
        parts += [" ", ("f Fix", "$accent")]
    if finding.remedy:
        parts += [" ", (clean(finding.remedy), "$muted")]
    return Content.assemble(*parts)
