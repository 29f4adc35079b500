"""What all panels of the Live screen have: a title and a conclusion in the border, drawn when they change."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget

from kvtui.live.view import LiveView


class Panel(Widget, can_focus=True):
    """A bordered part of a view.

    A panel says in ``part`` what it draws of a view, and draws that in ``body``; ``title`` and ``conclusion``
    stand in its border. It is drawn again only when its part changed.
    """

    # Glyphs tell the series apart where there is no colour.
    monochrome: reactive[bool] = reactive(False)

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self.view: LiveView | None = None
        self._drawn: object = None

    def part(self, view: LiveView) -> object:
        """What the panel draws of a view; equal parts look alike."""
        raise NotImplementedError

    def title(self, view: LiveView) -> Content:
        """What stands in the upper border."""
        raise NotImplementedError

    def conclusion(self, view: LiveView) -> Content:
        """What stands in the lower border."""
        return Content("")

    def body(self, view: LiveView, width: int, height: int) -> Content:
        """The panel's lines."""
        raise NotImplementedError

    def rows_wanted(self, view: LiveView) -> int:
        """Rows of the body where the style leaves the height to the panel."""
        return 1

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many rows as are wanted."""
        return 1 if self.view is None else max(1, self.rows_wanted(self.view))

    def show(self, view: LiveView) -> None:
        """Draw a view, if it differs for this panel."""
        wanted = 1 if self.view is None else self.rows_wanted(self.view)
        self.view = view
        if self.rows_wanted(view) != wanted:
            self.refresh(layout=True)
        part = self.part(view)
        if part != self._drawn:
            self._drawn = part
            self.redraw()

    def redraw(self) -> None:
        """Draw it again."""
        if self.view is not None:
            self.border_title = self.title(self.view)
            self.border_subtitle = self.conclusion(self.view)
            self.refresh()

    def render(self) -> Content:
        """The body at the panel's present size."""
        width, height = self.content_size
        if self.view is None or width < 1 or height < 1:
            return Content("")
        return self.body(self.view, width, height)

    def copy_text(self) -> str:
        """What ``y`` copies: what the panel shows."""
        title = "" if self.view is None else self.title(self.view).plain
        return f"{title}\n{self.render().plain}\n"


def lines(rows: list[Content], height: int) -> Content:
    """Rows below each other, as many as fit."""
    return Content("\n").join(rows[:height])


def fill(left: Content, right: Content, width: int) -> Content:
    """Two contents at both ends of a line; the left one gives way."""
    room = width - right.cell_length
    if left.cell_length > room:
        left = left.truncate(max(0, room - 1), ellipsis=True)
    return Content.assemble(left, " " * max(0, room - left.cell_length), right)
