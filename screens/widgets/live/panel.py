"""What all panels of the Live screen have: a title and a conclusion in the border, drawn when they change."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget

from kvtui.live.view import LiveView


class Borders:
    """What stands in the borders of a widget; setting either paints the widget, so only when it differs.

    Args:
        widget: The widget.
    """

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._shown = Content(""), Content("")

    def show(self, title: Content, conclusion: Content) -> bool:
        """Show both; whether they differ from what was shown."""
        if all(map(Content.is_same, (title, conclusion), self._shown)):
            return False
        self._shown = title, conclusion
        self._widget.border_title, self._widget.border_subtitle = title, conclusion
        return True


class Panel(Widget, can_focus=True):
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
        self._made: tuple[Size, Content] | None = None
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
        """Make it again, and paint it if that looks different; whether it does."""
        if self.view is None:
            return False
        before, self._made = self._made, None
        if self._borders.show(self.title(self.view), self.conclusion(self.view)):
            return True
        differs = before is None or not self._body().is_same(before[1])
        if differs:
            self.refresh()
        return differs

    def _body(self) -> Content:
        """The body at the panel's present size, made once."""
        size = self.content_size
        if self.view is None or size.width < 1 or size.height < 1:
            return Content("")
        if self._made is None or self._made[0] != size:
            self._made = size, self.body(self.view, size.width, size.height)
        return self._made[1]

    def notify_style_update(self) -> None:
        """Colours are part of what was made."""
        self._made = None
        super().notify_style_update()

    def render(self) -> Content:
        """The body at the panel's present size."""
        return self._body()

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
