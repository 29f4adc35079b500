"""What all panels of the Live screen have: a title and a conclusion in the border, drawn when they change."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive

from kvtui.live.view import LiveView
from screens.widgets.live.lines import Borders, LineWidget


class Panel(LineWidget, can_focus=True):
    """A bordered part of a view.

    A panel says in ``part`` what it draws of a view, and draws that in ``body``; ``title`` and ``conclusion``
    stand in its border. It is made anew only when its part changed, and painted only when it then looks
    different.
    """

    # Glyphs tell the series apart where there is no colour.
    monochrome: reactive[bool] = reactive(False)

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self.view: LiveView | None = None
        self._drawn: object = None
        self._borders = Borders(self)

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

    def show(self, view: LiveView) -> bool:
        """Draw a view, if it differs for this panel; whether there is something to paint."""
        wanted = 1 if self.view is None else self.rows_wanted(self.view)
        self.view = view
        if self.rows_wanted(view) != wanted:
            self.refresh(layout=True)
        part = self.part(view)
        if part == self._drawn:
            return False
        self._drawn = part
        return self.redraw()

    def redraw(self) -> bool:
        """Make it again, and paint what of it looks different; whether anything does."""
        if self.view is None:
            return False
        width, height = self.size
        if width < 1 or height < 1:
            return False
        differs = self._borders.show(self.title(self.view), self.conclusion(self.view))
        return self.draw(self.body(self.view, width, height)) or differs

    def on_resize(self) -> None:
        """Make it for the new size."""
        self.redraw()

    def on_show(self) -> None:
        """Make what was left out while nobody could see it."""
        self.redraw()

    def notify_style_update(self) -> None:
        """A chart holds colours of the theme."""
        super().notify_style_update()
        self.call_later(self.redraw)

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
