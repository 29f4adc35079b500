"""What the screens share: the plan being made, the run being looked at, the state in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from kvtui.plan import Plan


@dataclass(frozen=True, slots=True)
class Status:
    """The state that every screen shows at its top right.

    Attributes:
        sign: One character.
        text: A few words.
        level: Which colour it has.
    """

    sign: str = "·"
    text: str = "idle"
    level: Literal["success", "warning", "error", "muted"] = "muted"


@dataclass
class Session:
    """The state of one sitting; screens read it when they come to the front.

    Attributes:
        plan: The plan that Plan edits and Launch starts.
        plan_name: Name of its file, or empty for a new one.
        unsaved: What Plan shows is not what its file holds.
        run: Id of the run that Live and Results show.
        replay: Live shows that run again from its beginning.
        replays: How often a replay was asked for; one more begins anew.
        live_run: Id of the run that is under way, or ``None``.
        on_lab: The plan is to run on the lab, scaled, though it names nodes of its own.
        start_now: Launch is to start the plan as soon as it comes to the front.
        status: The state in words.
    """

    plan: Plan | None = None
    plan_name: str = ""
    unsaved: bool = False
    run: str | None = None
    replay: bool = False
    replays: int = 0
    live_run: str | None = None
    on_lab: bool = False
    start_now: bool = False
    status: Status = Status()
    _listeners: list[Callable[[], None]] = field(default_factory=list)

    def listen(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` whenever the status changes."""
        self._listeners.append(listener)

    def unlisten(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` no more."""
        self._listeners.remove(listener)

    def say(self, status: Status) -> None:
        """Show another state."""
        if status != self.status:
            self.status = status
            for listener in tuple(self._listeners):
                listener()
