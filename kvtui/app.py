"""The Textual app: six modes over one session."""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

from rich.console import Console
from textual.app import App
from textual.binding import BindingType
from textual.widget import Widget
from textual.worker import Worker, WorkerState

import screens
from kvtui.loglines import clean
from kvtui.plan import Plan
from kvtui.settings import Settings
from screens.background import in_background
from screens.base import KvtuiScreen
from screens.commands import Command, bindings
from screens.modals.help import Help, live_keys
from screens.modals.jump import Jump, targets_of
from screens.modals.message import Message
from screens.modals.question import Answer, Question
from screens.palette import CommandProvider
from screens.session import Session
from screens.themes import DEFAULT_THEME, SERIES, THEMES
from screens.widgets.topbar import MODES

ScreenFactory = Callable[[Session], KvtuiScreen]


def _mode_command(number: int, mode: str) -> Command:
    title = mode.title()
    return Command(f"app.{mode}", str(number), title, f"Go to {title}.", f"mode('{mode}')", shown=False)


class KvtuiApp(App[None]):
    """The app.

    Args:
        modes: Makes the screen of each mode.
        session: What the screens share.
        settings: The person's settings.
        first: The mode to begin with.
        log_error: Writes a failure's traceback to the log; returns where, in words.
        keep_copy: Writes a copied text to a file, for terminals without a clipboard; returns its path.
        keep_screen: Writes a picture of the screen, SVG, and its text to files; returns where, in words.
        stop_run: Ends a run by its id.
        lab_plan: The default plan.
        background: What goes on as long as the app does, whatever mode is in front.
        readonly: Nothing can be started, stopped or deleted.
    """

    TITLE = "kvtui"
    CSS_PATH = Path(screens.__file__).parent / "base.tcss"
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-narrow"),
        (100, "-normal"),
        (140, "-wide"),
    ]
    COMMANDS = App.COMMANDS | {CommandProvider}
    ACTIONS: ClassVar[tuple[Command, ...]] = (
        Command(
            "app.help", "question_mark", "Help", "What this screen is for, and its keys.", "help", label="?"
        ),
        Command("app.jump", "ctrl+o", "Jump", "Go to a panel by its letter.", "jump", shown=False),
        Command(
            "app.quit",
            "q",
            "Quit",
            "Leave; a run under way goes on unless you stop it.",
            "leave",
            shown=False,
        ),
        *(_mode_command(number, mode) for number, mode in enumerate(MODES, 1)),
    )
    BINDINGS: ClassVar[list[BindingType]] = bindings(ACTIONS)

    def __init__(
        self,
        modes: Mapping[str, ScreenFactory],
        session: Session,
        settings: Settings,
        *,
        first: str,
        log_error: Callable[[BaseException], str],
        keep_copy: Callable[[str], str],
        keep_screen: Callable[[str, str], str],
        stop_run: Callable[[str], Awaitable[None]],
        lab_plan: Plan,
        background: Sequence[Callable[[], Coroutine[Any, Any, None]]] = (),
        readonly: bool = False,
    ) -> None:
        super().__init__()
        self.session = session
        self.settings = settings
        self.readonly = readonly or settings.readonly
        self._first = first
        self._log_error = log_error
        self._keep_copy = keep_copy
        self._keep_screen = keep_screen
        self._stop_run = stop_run
        self._background = background
        self._lab_plan = lab_plan
        for mode, make in modes.items():
            self.add_mode(mode, lambda make=make: make(session))  # type: ignore[misc]

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Every theme knows the series' colours, Textual's own too."""
        return SERIES

    async def on_mount(self) -> None:
        """Themes, keys, the first mode."""
        for theme in THEMES:
            self.register_theme(theme)
        known = self.settings.theme in self.available_themes
        self.theme = self.settings.theme if known else DEFAULT_THEME
        self.set_keymap(self.settings.keys)
        for number, job in enumerate(self._background):
            in_background(self, job, f"background-{number}")
        await self.switch_mode(self._first)
        if not known:
            self.notify(
                f"There is no theme {clean(self.settings.theme)}: ctrl+p, Theme lists them.",
                severity="warning",
                markup=False,
            )

    async def action_mode(self, mode: str) -> None:
        """Go to a mode."""
        if mode == self.current_mode:
            # The mode itself, where a screen was opened from it.
            await self._leave_to_mode()
        elif mode in self._modes:
            await self.switch_mode(mode)

    async def _leave_to_mode(self) -> None:
        while len(self.screen_stack) > 1:
            await self.pop_screen()

    def action_help(self) -> None:
        """Show the help of the screen in front."""
        screen = self.screen
        if isinstance(screen, KvtuiScreen):
            page = files(screens) / "help" / f"{screen.MODE}.md"
            self.push_screen(Help(screen.MODE.title(), page.read_text("utf-8"), live_keys(screen)))

    def action_jump(self) -> None:
        """Show a letter on every panel, and go where one leads."""

        def go(target: Widget | None) -> None:
            if target is not None:
                target.focus()

        if isinstance(self.screen, KvtuiScreen):
            self.push_screen(Jump(targets_of(self.screen)), go)

    def action_leave(self) -> None:
        """Leave; ask first while a run is under way."""
        in_background(self, self._leave, "leave")

    async def action_quit(self) -> None:
        """Leave, as with the key of kvtui's own."""
        self.action_leave()

    def action_help_quit(self) -> None:
        """Say which key leaves: in a field, this one copies."""
        key = self.get_key_display(self.active_bindings["q"].binding) if "q" in self.active_bindings else "^q"
        self.notify(f"{key} leaves kvtui.", markup=False)

    async def _may_lose_the_plan(self) -> bool:
        if not self.session.unsaved:
            return True
        lines = ("What you changed in Plan is not saved: 2 and ctrl+s save it.",)
        answers = (Answer("cancel", "Cancel"), Answer("lose", "Leave without saving", destroys=True))
        return await self.push_screen_wait(Question("Quit", lines, answers)) == "lose"

    async def _leave(self) -> None:
        if not await self._may_lose_the_plan():
            return
        run = self.session.live_run
        if run is None:
            self.exit()
            return
        lines = (
            f"Run {run} is under way. It does not need this window:",
            "leave it running, and come back with kvtui, or stop it and remove what it started.",
        )
        answers = [Answer("cancel", "Cancel"), Answer("leave", "Leave it running")]
        if not self.readonly:
            answers.append(Answer("stop", "Stop the run", destroys=True))
        answer = await self.push_screen_wait(Question("Quit", lines, answers))
        if answer == "stop":
            self.notify(f"Stopping run {run} …", markup=False)
            await self._stop_run(run)
        if answer != "cancel":
            self.exit()

    def begin_lab(self) -> None:
        """Start the default plan on the lab."""
        self.session.plan = self._lab_plan
        self.session.plan_name = self._lab_plan.name
        self.session.start_now = True
        in_background(self, partial(self.action_mode, "launch"), "mode")

    def copy(self, text: str, what: str) -> None:
        """Put a text into the clipboard, and say so."""
        self.copy_to_clipboard(text)
        self.notify(f"Copied {what}. Without a clipboard: {self._keep_copy(text)}", timeout=4, markup=False)

    def save_screen(self) -> None:
        """Save what the screen shows as a picture and as text, and say where."""
        width, height = self.size
        console = Console(width=width, height=height, file=io.StringIO(), record=True, color_system=None)
        # Textual gives the picture of the screen, but no text of it.
        console.print(self.screen._compositor.render_update(full=True))  # noqa: SLF001
        text = "\n".join(line.rstrip() for line in console.export_text().splitlines())
        try:
            where = self._keep_screen(self.export_screenshot(), f"{text}\n")
        except OSError as error:
            why = f"The screen could not be saved ({error.strerror}): start kvtui where it may write."
            self.notify(why, severity="error", markup=False)
        else:
            self.notify(f"Saved the screen: {where}", timeout=6, markup=False)

    def fail(self, error: BaseException) -> None:
        """Tell of a failure in one sentence; its traceback goes to the log."""
        details = self._log_error(error)
        known = bool(getattr(error, "message", ""))
        text = str(error) if known else f"kvtui met a fault of its own: {type(error).__name__}: {error}."
        self.push_screen(Message("Something failed", f"{clean(text)}{details}"))

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A failed piece of background work is told of, and the app goes on."""
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self.fail(event.worker.error)

    def get_system_commands(self, screen: Any) -> Any:
        """Textual's own commands, but quitting, which asks first."""
        for command in super().get_system_commands(screen):
            if command.title != "Quit":
                yield command
