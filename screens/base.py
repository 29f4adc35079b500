"""What all six screens have: the line at the top, a body, the keys at the bottom, help, read-only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Protocol, cast

from textual import events
from textual.app import App, ComposeResult
from textual.containers import Container
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from screens.commands import Command
from screens.session import Session
from screens.widgets.key_bar import KeyBar
from screens.widgets.topbar import TopBar

LEAST_COLUMNS, LEAST_ROWS = 60, 16


class Host(Protocol):
    """What the app offers its screens."""

    ACTIONS: ClassVar[tuple[Command, ...]]
    readonly: bool

    def copy(self, text: str, what: str) -> None:
        """Put a text into the clipboard, and say so."""

    def save_screen(self) -> None:
        """Save what the screen shows as a picture and as text, and say where."""

    def begin_lab(self) -> None:
        """Start the default plan on the lab."""

    def fail(self, error: BaseException) -> None:
        """Tell of a failure in one sentence; its traceback goes to the log."""


def host(app: App[object]) -> Host:
    """The app, by what it offers its screens."""
    return cast(Host, app)


def app_commands(app: App[object]) -> tuple[Command, ...]:
    """The commands that work on every screen."""
    return getattr(app, "ACTIONS", ())


class KvtuiScreen(Screen[None]):
    """A mode of the app, or a screen opened from one.

    A screen names its ``MODE``, lists its commands in ``ACTIONS`` (with ``BINDINGS = bindings(ACTIONS)``) and
    gives its widgets in ``compose_body``; one opened from another mode names that as its ``TAB``.
    ``help/MODE.md`` is what ``?`` shows above the keys. Its background work runs on the screen, by
    ``in_background``: a failure is told of, once.
    """

    MODE: ClassVar[str] = ""
    TAB: ClassVar[str] = ""
    ACTIONS: ClassVar[tuple[Command, ...]] = ()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    def compose(self) -> ComposeResult:
        """The frame that every screen has."""
        yield TopBar(self.session, self.TAB or self.MODE)
        with Container(id="body"):
            yield from self.compose_body()
        yield Static(
            f"kvtui needs {LEAST_COLUMNS} columns and {LEAST_ROWS} rows: make this window larger.",
            id="too-small",
        )
        yield KeyBar(compact=True)

    def compose_body(self) -> Iterable[Widget]:
        """The screen's own widgets."""
        raise NotImplementedError

    def on_resize(self, event: events.Resize) -> None:
        """Below the least size, say so instead of drawing shreds."""
        small = event.size.width < LEAST_COLUMNS or event.size.height < LEAST_ROWS
        self.set_class(small, "-too-small")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey out what changes something when the app is read-only."""
        return None if self._is_off(action) else super().check_action(action, parameters)

    def _is_off(self, action: str) -> bool:
        """Whether read-only takes an action away."""
        return getattr(self.app, "readonly", False) and any(
            command.changes and command.action.partition("(")[0] == action for command in self.ACTIONS
        )

    def on_key(self, event: events.Key) -> None:
        """Say why a key does nothing."""
        active = self.active_bindings.get(event.key)
        if active is not None and not active.enabled:
            binding = active.binding
            if self._is_off(binding.action.partition("(")[0]):
                text = f"Read-only: {binding.description} is off. Start kvtui without --readonly for it."
                self.app.notify(text, timeout=3, markup=False)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A failed piece of background work is told of, and the app goes on."""
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            host(self.app).fail(event.worker.error)
