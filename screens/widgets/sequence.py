"""What a run will do, step by step, before it is started."""

from __future__ import annotations

from itertools import groupby

from rich.table import Table
from rich.text import Text
from textual.app import App

from kvtui.campaign.steps import Step, StepKind, block_nodes, steps
from kvtui.loglines import clean
from kvtui.plan import Plan

_SHORT = {
    StepKind.ENGINES: "start",
    StepKind.FINGERPRINT: "fingerprints",
    StepKind.GATE: "gate",
    StepKind.COLD: "cold",
    StepKind.SETTLE: "settled",
    StepKind.CACHED: "cached",
    StepKind.STOP: "stop",
}


def _word(step: Step) -> str:
    word = _SHORT.get(step.kind, str(step.kind))
    return f"{step.topology} {word}" if step.kind is StepKind.CACHED else word


def sequence_of(plan: Plan, *, on_lab: bool) -> tuple[str, ...]:
    """A line for each part of the run: what is done before, each tier, what is done after."""
    lines = ["bring up the lab of this machine"] if on_lab else []
    for block, of in groupby(steps(plan), key=lambda step: step.block):
        words = [_word(step) for step in of]
        if block is None:
            lines.append(", ".join(words))
        else:
            nodes = " and ".join(block_nodes(plan, block))
            lines.append(f"{block.tier}, {nodes}: {' → '.join(words)}")
    return tuple(lines)


def start_of(*, on_lab: bool) -> tuple[str, ...]:
    """What a start does until the run goes on by itself."""
    ready = (
        "bring up the lab of this machine, and make the run's record" if on_lab else "make the run's record"
    )
    return ("check", ready, "hand the run to a process of its own", "go on in Live")


def sequence_grid(app: App[object], lines: tuple[str, ...], done: int, now: str = "") -> Table:
    """The lines with their signs.

    Args:
        app: The app, for its colours.
        lines: What is done.
        done: How many are behind; the next one is under way. Below 0 nothing has begun.
        now: What the one under way does this second, and for how long.
    """
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    colours = app.theme_variables
    for number, line in enumerate(lines):
        sign, colour = ("·", "muted")
        if number < done:
            sign, colour = ("✓", "success")
        elif number == done:
            sign, colour = ("◐", "warning")
        text = Text(clean(line))
        if number == done and now:
            text.append(f"  {clean(now)}", colours["muted"])
        grid.add_row(Text(f"{sign} {number + 1}", style=colours[colour]), text)
    return grid
