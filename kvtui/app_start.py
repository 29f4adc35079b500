"""Starts the app over the real nodes and runs."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kvtui.app import KvtuiApp, ScreenFactory
from kvtui.app_asker import AppAsker
from kvtui.cli_errors import write_log
from kvtui.eta import in_words
from kvtui.paths import Places
from kvtui.plan import Plan, load_plan
from kvtui.recordings import DEFAULT_PLAN
from kvtui.services.app_documents import AppDocuments
from kvtui.services.app_launch import AppLaunch
from kvtui.services.app_nodes import AppNodes
from kvtui.services.app_plans import AppPlans
from kvtui.services.links import LinkPool
from kvtui.services.live_runs import LocalRuns
from kvtui.services.results import RecordedRuns
from kvtui.settings import Settings
from screens.history import HistoryScreen
from screens.launch import LaunchScreen
from screens.live import LiveScreen
from screens.live_watch import LiveWatch
from screens.nodes import NodesScreen
from screens.plan import PlanScreen
from screens.results import ResultsScreen
from screens.session import Session


@dataclass(frozen=True, slots=True)
class Opening:
    """How the app begins.

    Attributes:
        mode: The mode in front.
        plan: The plan to show or start.
        plan_name: Name of its file.
        on_lab: Run it on the lab, scaled.
        start_now: Start the plan at once.
        run: The run to look at.
        readonly: Nothing can be started, stopped or deleted.
    """

    mode: str = "nodes"
    plan: Plan | None = None
    plan_name: str = ""
    on_lab: bool = False
    start_now: bool = False
    run: str | None = None
    readonly: bool = False


def run_app(places: Places, settings: Settings, opening: Opening) -> str | None:
    """Run the app until it is left.

    Returns:
        Id of the run that goes on without it, or ``None``.
    """
    # A size that the shell exports would hold for ever: the terminal itself knows when it is resized.
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)
    return asyncio.run(_run(places, settings, opening))


async def _run(places: Places, settings: Settings, opening: Opening) -> str | None:
    _log_to_file(places.log)
    asker = AppAsker()
    pool = LinkPool(asker)
    session = Session(
        plan=opening.plan,
        plan_name=opening.plan_name,
        run=opening.run,
        on_lab=opening.on_lab,
        start_now=opening.start_now,
    )
    runs = LocalRuns(places, asker)
    watch = LiveWatch(runs, session)
    launch = AppLaunch(places, pool, asker)
    app = KvtuiApp(
        _modes(places, asker, pool, watch, launch),
        session,
        settings,
        first=opening.mode,
        log_error=lambda error: write_log(error, places.log),
        keep_copy=_keeper(places.state),
        keep_screen=_keep_screen,
        stop_run=runs.stop,
        lab_plan=load_plan(DEFAULT_PLAN),
        background=(watch.run,),
        readonly=opening.readonly,
    )
    asker.app = app
    # A full collection walks all that was imported: a tenth of a second in which no key is read.
    gc.freeze()
    try:
        await app.run_async()
    finally:
        await launch.settled()
        await pool.close()
    return session.live_run


def _modes(
    places: Places, asker: AppAsker, pool: LinkPool, watch: LiveWatch, launch: AppLaunch
) -> Mapping[str, ScreenFactory]:
    nodes = AppNodes(places, pool)
    runs = RecordedRuns(places, asker)
    plans = AppPlans(places, nodes)
    documents = AppDocuments(places.runs, plans.known)
    return {
        "nodes": lambda session: NodesScreen(session, nodes),
        "plan": lambda session: PlanScreen(session, plans, in_words, documents),
        "launch": lambda session: LaunchScreen(session, launch),
        "live": lambda session: LiveScreen(session, watch),
        "results": lambda session: ResultsScreen(session, runs),
        "history": lambda session: HistoryScreen(session, runs),
    }


def _log_to_file(log: Path) -> None:
    """What libraries have to say goes to the log: on the terminal it would spoil the screen."""
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        handler: logging.Handler = logging.FileHandler(log, encoding="utf-8")
    except OSError:
        handler = logging.NullHandler()
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.captureWarnings(True)


def _keeper(state: Path) -> Callable[[str], str]:
    path = state / "copied.txt"

    def keep(text: str) -> str:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            return f"it could not be written to {path} either ({error.strerror})"
        return str(path)

    return keep


def _keep_screen(svg: str, text: str) -> str:
    """Write a picture and its text into the working directory.

    Raises:
        OSError: That cannot be written.
    """
    name = time.strftime("kvtui-%Y%m%d-%H%M%S")
    for suffix, content in ((".svg", svg), (".txt", text)):
        Path(name + suffix).write_text(content, encoding="utf-8")
    return f"{name}.svg and {name}.txt in {Path.cwd()}"
