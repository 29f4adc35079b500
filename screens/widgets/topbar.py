"""The line at the top: the six modes, and the state in words."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from screens.session import Session

MODES = ("nodes", "plan", "launch", "live", "results", "history")


class ModeTab(Static):
    """One mode; a click goes there."""

    def __init__(self, number: int, mode: str, *, current: bool) -> None:
        number_part = Content.styled(str(number), "$muted")
        name = Content.styled(
            f" {mode.title()} ", "bold $background on $accent" if current else "$foreground"
        )
        super().__init__(Content.assemble(number_part, name), classes="tab")
        self._mode = mode

    async def on_click(self, event: events.Click) -> None:
        """Go to the mode."""
        event.stop()
        await self.run_action(f"app.mode('{self._mode}')")


class TopBar(Horizontal):
    """Modes on the left, state on the right."""

    def __init__(self, session: Session, mode: str) -> None:
        super().__init__()
        self._session = session
        self._mode = mode

    def compose(self) -> ComposeResult:
        """The tabs and the state."""
        yield Static(" kvtui ", id="product")
        for number, mode in enumerate(MODES, 1):
            yield ModeTab(number, mode, current=mode == self._mode)
        yield Static(id="status")

    def on_mount(self) -> None:
        """Follow the state."""
        self._session.listen(self._show)
        self._show()

    def on_unmount(self) -> None:
        """Follow it no more."""
        self._session.unlisten(self._show)

    def _show(self) -> None:
        status = self._session.status
        text = Content.styled(f"{status.sign} {status.text} ", f"${status.level}")
        self.query_one("#status", Static).update(text)
