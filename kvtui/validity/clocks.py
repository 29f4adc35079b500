"""Whether a node's clock was set while the run went on: the time of day against a clock that only goes on."""

from __future__ import annotations

from kvtui.findings import Finding, Level

# A clock that is kept right by slewing gains or loses 500 ppm at most (adjtimex(2)); twice that is allowed.
_SLEW = 0.001
_STEP_S = 0.25


class Clock:
    """One program's two clocks, as its events tell of them.

    Attributes:
        step_s: The largest step that was seen, forward above zero; 0 for none.
        wall_s: When, by the new time.
    """

    def __init__(self) -> None:
        self.step_s = 0.0
        self.wall_s: float | None = None
        self._before: tuple[float, float] | None = None

    def take(self, wall_s: float, mono_s: float) -> None:
        """Note an event; after a start of the machine both clocks begin anew."""
        before, self._before = self._before, (wall_s, mono_s)
        if before is None or mono_s < before[1]:
            return
        went_s = mono_s - before[1]
        step_s = wall_s - before[0] - went_s
        if abs(step_s) > _STEP_S + went_s * _SLEW and abs(step_s) > abs(self.step_s):
            self.step_s, self.wall_s = step_s, wall_s


def clock_finding(node: str, clock: Clock) -> Finding | None:
    """That a node's clock was set, or its machine slept."""
    if not clock.step_s:
        return None
    way = "ahead" if clock.step_s > 0 else "back"
    text = (
        f"The clock went {way} by {abs(clock.step_s):,.1f} s at once. TTFT is taken from another clock, but "
        "load and log lines are matched to passes by this one."
    )
    remedy = (
        "Let it be kept right by slewing (chrony, systemd-timesyncd), and keep the machine from sleeping."
    )
    return Finding(Level.WARNING, "clock-stepped", text, remedy, node)
