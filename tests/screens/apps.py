"""Makes the app with the screens of a test, and fakes around them."""

from __future__ import annotations

from collections.abc import Mapping

from kvtui.app import KvtuiApp, ScreenFactory
from kvtui.plan import load_plan
from kvtui.recordings import DEFAULT_PLAN
from kvtui.settings import Settings
from screens.session import Session


class Around:
    """What the app would do outside of itself, written down.

    Attributes:
        errors: What was written to the log.
        copied: What was copied.
        saved: Pictures and texts of screens.
        stopped: Runs that were stopped.
    """

    def __init__(self) -> None:
        self.errors: list[BaseException] = []
        self.copied: list[str] = []
        self.saved: list[tuple[str, str]] = []
        self.stopped: list[str] = []

    def log_error(self, error: BaseException) -> str:
        """Remember an error."""
        self.errors.append(error)
        return " (Details: kvtui.log)"

    def keep_copy(self, text: str) -> str:
        """Remember a copied text."""
        self.copied.append(text)
        return "copied.txt"

    def keep_screen(self, svg: str, text: str) -> str:
        """Remember a screen."""
        self.saved.append((svg, text))
        return "screen.svg and screen.txt"

    async def stop_run(self, run: str) -> None:
        """Remember a stopped run."""
        self.stopped.append(run)


def make_app(
    modes: Mapping[str, ScreenFactory],
    session: Session | None = None,
    *,
    first: str = "",
    settings: Settings | None = None,
    readonly: bool = False,
    around: Around | None = None,
) -> KvtuiApp:
    """The app with these screens; the first of them in front."""
    around = around or Around()
    return KvtuiApp(
        modes,
        session or Session(),
        settings or Settings(),
        first=first or next(iter(modes)),
        log_error=around.log_error,
        keep_copy=around.keep_copy,
        keep_screen=around.keep_screen,
        stop_run=around.stop_run,
        lab_plan=load_plan(DEFAULT_PLAN),
        readonly=readonly,
    )
