"""The two lines at the top: what runs and how far it is, and every tier with its state."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from kvtui.live.standing import Head, Sign, TierMark
from kvtui.live.view import LiveView
from kvtui.loglines import clean
from screens.figures import bar, percent, ratio, span
from screens.widgets.live.lines import LineWidget

SIGN_STYLES = {
    Sign.GOOD: "$success",
    Sign.WARNING: "$warning",
    Sign.BAD: "$error",
    Sign.RUNNING: "$accent",
    Sign.WAITING: "$muted",
}
_OVER = {
    "done": ("✓ done", "$success"),
    "failed": ("✗ failed", "$error"),
    "stopped": ("■ stopped", "$warning"),
}
_BAR = 20
_ROOMY, _WIDE = 100, 150


def what_runs(head: Head, detail: int) -> Content:
    """Tier, repeat, topology and step, and how far the pass is or what happens this second."""
    if head.state in _OVER:
        word, style = _OVER[head.state]
        reason = f"  {clean(head.reason)}" if head.reason else ""
        return Content.assemble((word, f"bold {style}"), f"  {clean(head.plan)}", (reason, "$muted"))
    words = [clean(word) for word in (head.repeat, head.topology, head.step) if word]
    parts: list[Content | str | tuple[str, str]] = []
    if head.tier:
        parts.append((clean(head.tier), "bold $cached"))
        parts.append(" · " if words else "")
    parts.append(" · ".join(words))
    if head.node and detail > 1:
        parts += [" on ", (clean(head.node), "bold")]
    if head.answered is not None:
        parts.append(("   document " if detail else "  ", "$muted"))
        parts.append(f"{head.answered} of {'–' if head.requests is None else head.requests}")
    elif head.now:
        parts.append((f"   {clean(head.now)}", "$muted"))
    return Content.assemble(*parts)


def progress(head: Head, width: int, notice: str) -> Content:
    """Bar, share, and what is left; a notice takes the place of the times."""
    times = Content.assemble(("after ", "$muted"), span(head.elapsed_s))
    if head.state not in _OVER:
        left = Content.assemble(span(head.run_left_s), (" left", "$muted"))
        step = Content.assemble(span(head.step_left_s), (" this step · ", "$muted"))
        times = Content.assemble(left, (" · ", "$muted"), times) if width >= _ROOMY else left
        if head.step_left_s is not None and width >= _WIDE:
            times = Content.assemble(step, times)
    if notice:
        times = Content.styled(notice, "bold $warning")
    share = Content.assemble(f" {percent(head.share):>3}", (" %", "$muted"))
    room = _BAR if width >= _ROOMY else _BAR // 2
    return Content.assemble(bar(head.share, room, "$cached"), share, "  ", times, " ")


def first_line(head: Head, width: int, notice: str) -> Content:
    """What runs at the left, how far it is at the right."""
    right = progress(head, width, notice)
    room = width - right.cell_length - 2
    for detail in (2, 1, 0):
        left = what_runs(head, detail)
        if left.cell_length <= room:
            break
    else:
        left = left.truncate(max(0, room), ellipsis=True)
    return Content.assemble(" ", left, " " * max(1, width - 1 - left.cell_length - right.cell_length), right)


def _mark(mark: TierMark, detail: int) -> Content:
    style = SIGN_STYLES[mark.sign]
    name = clean(mark.tier)
    name_style = "bold underline" if mark.shown else "bold" if mark.current else ""
    parts: list[str | tuple[str, str]] = [(mark.sign.value, style), " ", (name, name_style)]
    if detail >= 1 and mark.speedup is not None:
        parts += [" ", (ratio(mark.speedup), style)]
    if detail >= 2 and mark.has_cache and mark.judged:
        parts += [" ", (f"{mark.reused}/{mark.judged}", "$muted")]
    if detail >= 2 and mark.repeats > 1 and (mark.judged or mark.current):
        parts += [" ", (f"repeat {mark.repeat}", "$muted")]
    return Content.assemble(*parts)


def _strip(marks: Sequence[TierMark], detail: int) -> Content:
    gap = "   " if detail >= 2 else "  "
    return Content(gap).join(_mark(mark, detail) for mark in marks)


def tier_line(marks: Sequence[TierMark], width: int) -> Content:
    """Every tier of the shown topology; of the other one, the signs."""
    shown = next((mark.topology for mark in marks if mark.shown), marks[0].topology if marks else "")
    here = [mark for mark in marks if mark.topology == shown]
    other = [mark for mark in marks if mark.topology != shown]
    right = Content("")
    if other:
        signs = Content.assemble(*((mark.sign.value, SIGN_STYLES[mark.sign]) for mark in other))
        right = Content.assemble((f"{other[0].topology} ", "$muted"), signs, " ")
    label = Content.styled(f" {shown:<7}", "$muted")
    for detail in (2, 1, 0):
        left = Content.assemble(label, _strip(here, detail))
        if left.cell_length + right.cell_length < width:
            break
    else:
        left = left.truncate(max(0, width - right.cell_length - 1), ellipsis=True)
    return Content.assemble(left, " " * max(0, width - left.cell_length - right.cell_length), right)


class HeadLines(LineWidget):
    """Both lines."""

    def __init__(self) -> None:
        super().__init__(id="head")
        self._view: LiveView | None = None
        self._notice = ""

    def show(self, view: LiveView, notice: str) -> None:
        """Draw a view; ``notice`` is what a person must know of the screen itself, such as a pause."""
        self._view, self._notice = view, notice
        self._redraw()

    def on_resize(self) -> None:
        """Both lines at another width."""
        self._redraw()

    def _redraw(self) -> None:
        if self._view is not None:
            width = self.size.width
            first = first_line(self._view.head, width, self._notice)
            self.draw(Content("\n").join((first, tier_line(self._view.tiers, width))))
