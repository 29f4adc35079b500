"""From the command line into the app, where there is a terminal."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import typer

from kvtui.cli_errors import finish
from kvtui.errors import ExitCode
from kvtui.paths import places

if TYPE_CHECKING:
    from kvtui.app_start import Opening
    from kvtui.plan import Plan
    from kvtui.record import RunRecord
    from kvtui.settings import Settings


def has_terminal() -> bool:
    """Whether a person can see and answer: the app draws on stderr and reads stdin."""
    return sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


def open_app(opening: Opening, theme: str | None = None) -> None:
    """Run the app; afterwards say what goes on without it."""
    from kvtui.app_start import run_app
    from kvtui.settings import load_settings

    async def read() -> Settings:
        return load_settings(places().config)

    settings = finish(read())
    if theme is not None:
        settings = settings.model_copy(update={"theme": theme})
    run = run_app(places(), settings, opening)
    if run is not None:
        typer.echo(f"Run {run} goes on. Watch it again with: kvtui", err=True)


def open_bare(*, readonly: bool, theme: str | None) -> None:
    """The app without a command: on the run under way, else on the nodes.

    Raises:
        Exit: There is no terminal.
    """
    if not has_terminal():
        typer.echo(
            "The app needs a terminal on stdin, stdout and stderr. Without one: kvtui launch, kvtui --help.",
            err=True,
        )
        raise typer.Exit(ExitCode.USAGE)
    from kvtui.app_start import Opening
    from kvtui.record import records

    found = records(places().runs)
    live = found[-1].run if found and found[-1].follower_pid() is not None else None
    open_app(Opening(mode="live" if live else "nodes", run=live, readonly=readonly), theme)


def open_launch(plan: Plan, *, on_lab: bool) -> None:
    """The app, starting this plan."""
    from kvtui.app_start import Opening

    open_app(Opening(mode="launch", plan=plan, plan_name=plan.name, on_lab=on_lab, start_now=True))


async def follow(record: RunRecord) -> int:
    """Have a process of its own carry a run on; the number of the process.

    Raises:
        RecordError: It ended at once, with its sentence.
    """
    from kvtui import follower

    return await asyncio.to_thread(follower.start, record)


def open_live(record: RunRecord) -> None:
    """The app, on this run."""
    from kvtui.app_start import Opening

    open_app(Opening(mode="live", run=record.run))


def list_themes() -> None:
    """Print the themes that ``--theme`` knows."""
    from textual.theme import BUILTIN_THEMES

    from screens.themes import THEMES

    for name in (*(theme.name for theme in THEMES), *BUILTIN_THEMES):
        typer.echo(name)


def list_bindings() -> None:
    """Print every command's id, its keys and what it does."""
    from kvtui.app import KvtuiApp
    from screens.history import HistoryScreen
    from screens.launch import LaunchScreen
    from screens.live import LiveScreen
    from screens.modals.corpus_reader import CorpusReader
    from screens.nodes import NodesScreen
    from screens.plan import PlanScreen
    from screens.results import ResultsScreen

    modes = (NodesScreen, PlanScreen, LaunchScreen, LiveScreen, ResultsScreen, HistoryScreen)
    for owner in (KvtuiApp, *modes, CorpusReader):
        for command in owner.ACTIONS:
            typer.echo(f"{command.id:24}{command.key:24}{command.tooltip}")
