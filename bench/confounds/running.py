"""Campaigns on the lab, with a confound or without, by kvtui's own command line."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Thread
from typing import Any

from bench.circumstances import commit
from bench.confounds.outcome import Outcome, seen
from bench.confounds.plant import Act, Plant
from bench.confounds.scene import Scene, TooLate
from bench.confounds.stage import Stage
from bench.place import kvtui
from kvtui.findings import Finding, from_json
from kvtui.live.state import LiveState
from kvtui.plan import Plan
from kvtui.plan_toml import to_toml
from kvtui.record import RunRecord, records
from kvtui.services.feed import RunFeed

_LIMIT_S = 900.0
DATA = "~/.local/share/kvtui"
"""What a record calls kvtui's data directory, wherever it was."""


def carry_out(stage: Stage, plan: Plan, plant: Plant | None = None, turn: int = 1) -> Outcome:
    """Run a campaign on the lab, and collect every finding that kvtui shows of it.

    Args:
        stage: The lab.
        plan: The campaign.
        plant: What is wrong with it, if anything.
        turn: Which time it is done.
    """
    started_s = time.monotonic()
    stage.plant(plant.engine_faults if plant else {})
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "plan.toml"
        file.write_text(to_toml(plan), encoding="utf-8")
        checked = kvtui(stage.env, "plan", "show", str(file), "--json")
        known = set(records(stage.runs))
        # The word kvtui tells the nodes' watchers that it is no stranger.
        program = ("bench.confounds.faulty", plant.fault, "kvtui") if plant and plant.fault else ("kvtui",)
        launching = [sys.executable, "-m", *program, "launch", str(file), "--json"]
        exit_code, said, fault = _launch(stage, launching, plant.act if plant else None, known)
    stage.empty_store()
    fresh = set(records(stage.runs)) - known
    shown = [("check", _told(json.loads(checked.stdout)))] if checked.returncode == 0 else []
    for record in fresh:
        shown += [("result", _in_result(record)), ("live", _in_live(record))]
    if not fresh and not shown:
        fault = fault or said[-500:]
    return Outcome(
        plant=plant.name if plant else "",
        campaign=plan.name,
        round=turn,
        commit=commit(),
        date=time.strftime("%Y-%m-%d"),
        seconds=round(time.monotonic() - started_s, 1),
        exit_code=exit_code,
        fault=fault,
        seen=seen(shown, {str(stage.data): DATA}),
    )


def _launch(stage: Stage, argv: list[str], act: Act | None, known: set[RunRecord]) -> tuple[int, str, str]:
    """Launch a run and act on it; its exit code, what it said, and why the act failed."""
    process = subprocess.Popen(
        argv,
        env=dict(stage.env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    scene = Scene(stage.lab, stage.paths, lambda: _new(stage, known))
    failures: list[str] = []
    acting = Thread(target=_act, args=(act, scene, failures))
    if act is not None:
        acting.start()
    try:
        _, said = process.communicate(timeout=_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        _, said = process.communicate()
        failures.append(f"the run did not end within {_LIMIT_S:.0f} s")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        scene.over.set()
        if act is not None:
            acting.join()
        _undo(scene, failures)
    return process.returncode, said, "; ".join(failures)


def _undo(scene: Scene, failures: list[str]) -> None:
    try:
        scene.undo.close()
    except Exception as error:  # noqa: BLE001 - the run is over, and what it showed counts all the same
        failures.append(f"not undone: {type(error).__name__}: {error}")


def _act(act: Act, scene: Scene, failures: list[str]) -> None:
    try:
        act(scene)
    except TooLate:
        failures.append("the run was over before the moment came")
    except Exception as error:  # noqa: BLE001 - what a thread raises would be lost
        failures.append(f"{type(error).__name__}: {error}")


def _new(stage: Stage, known: set[RunRecord]) -> Path | None:
    fresh = set(records(stage.runs)) - known
    return next(iter(fresh)).path if fresh else None


def _told(data: dict[str, Any]) -> list[Finding]:
    return [from_json(one) for one in data["findings"]]


def _in_result(record: RunRecord) -> list[Finding]:
    return _told(json.loads(record.result.read_text(encoding="utf-8"))) if record.result.exists() else []


def _in_live(record: RunRecord) -> list[Finding]:
    """What the Live screen shows of a run that is over."""
    state, feed = LiveState(record.plan()), RunFeed(record)
    more = True
    while more:
        batch = feed.poll()
        state.feed(batch.events)
        for piece in batch.logs:
            state.feed_log(piece.node, piece.process, piece.first_line, piece.lines)
        more = batch.more
    return [one.finding for one in state.view(time.time()).findings]
