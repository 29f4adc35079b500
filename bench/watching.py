"""Does watching disturb? Lab runs with the app open and without: ``python -m bench.watching``.

The runs stand in balanced order and send the same documents; TTFTs are compared document by document. The app
runs in a real terminal of 120 by 40 with a lower priority, since here it shares the engine's two cores. All
of it takes some six minutes on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median

from bench.circumstances import about
from kvtui.journal import Event, iter_events
from kvtui.paths import places
from kvtui.record import records
from kvtui.samples import Pass, samples_of
from kvtui.stats.estimate import ratio_estimate

PLAN = """
name = "watching"
lab = true
[model]
path = "kvtui-tiny"
served_name = "kvtui-tiny"
[corpus]
documents = {documents}
tokens = 2064
[passes]
topologies = ["single"]
[[tiers]]
name = "dram"
kind = "dram"
capacity_gib = 1.0
"""
ORDER = ("alone", "watched", "watched", "alone")
MOST_DIFFERENCE = 0.05
RECORD = Path(__file__).parents[1] / "docs" / "records" / "watching.json"
_NICE = "10"

Times = dict[tuple[str, str], list[float]]


def _launch(plan: Path, env: dict[str, str], told: Path) -> subprocess.Popen[bytes]:
    """Start a run without the app; what it tells goes to a file."""
    with told.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "kvtui", "launch", "--headless", str(plan)],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        )


def _failed(run: subprocess.Popen[bytes], told: Path) -> SystemExit:
    last = "\n".join(told.read_text(encoding="utf-8", errors="replace").splitlines()[-5:])
    return SystemExit(f"The run ended with {run.returncode}:\n{last}")


def _tmux(socket: Path, *arguments: str) -> str:
    command = ["tmux", "-S", str(socket), "-f", "/dev/null", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _one(kind: str, plan: Path, env: dict[str, str], data: Path) -> tuple[Path, str]:
    """One run to its end; its events, and what the terminal showed last, where there was one."""
    before = {record.run for record in records(data / "runs")}
    told = data / "told.log"
    run = _launch(plan, env, told)
    while not (new := [record for record in records(data / "runs") if record.run not in before]):
        time.sleep(0.2)
        if run.poll() is not None and run.returncode != 0:
            raise _failed(run, told)
    shown = ""
    if kind == "watched":
        socket = data / "tmux.sock"
        setting = [f"{name}={env[name]}" for name in ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")]
        command = ["env", *setting, "nice", "-n", _NICE, sys.executable, "-m", "kvtui"]
        _tmux(socket, "new-session", "-d", "-x", "120", "-y", "40", *command)
        run.wait()
        shown = _tmux(socket, "capture-pane", "-p")
        _tmux(socket, "kill-server")
    if run.wait() != 0:
        raise _failed(run, told)
    if kind == "watched" and "TTFT" not in shown:
        raise SystemExit(f"The app did not show the run:\n{shown}")
    return new[0].events, shown


def times_of(events: Iterable[Event]) -> dict[tuple[str, str], float]:
    """TTFT in ms by pass and document."""
    return {
        (sample.step, sample.document): sample.ttft_ms
        for sample in samples_of(events)
        if sample.step in (Pass.COLD, Pass.CACHED) and sample.ttft_ms is not None
    }


def compared(step: Pass, kinds: dict[str, Times]) -> dict[str, object]:
    """Watched ÷ alone, document by document, each the mean of its runs."""
    documents = sorted(name for kind, name in kinds["alone"] if kind == step)
    both = [name for name in documents if (step, name) in kinds["watched"]]
    ratios = [fmean(kinds["watched"][step, name]) / fmean(kinds["alone"][step, name]) for name in both]
    found = ratio_estimate(ratios)
    if found is None:
        raise SystemExit(f"Nothing was answered in the {step} pass.")
    return {
        "pass": step.value,
        "n": found.n,
        "alone_ms": median(fmean(kinds["alone"][step, name]) for name in both),
        "watched_ms": median(fmean(kinds["watched"][step, name]) for name in both),
        "ratio_median": found.median,
        "ratio_hodges_lehmann": found.hodges_lehmann,
        "ratio_low": found.low,
        "ratio_high": found.high,
        "level": found.level,
    }


def undisturbed(rows: Sequence[Mapping[str, object]]) -> bool:
    """Whether every pass's TTFTs are equal within what is allowed."""
    return all(abs(float(str(row["ratio_median"])) - 1) <= MOST_DIFFERENCE for row in rows)


def main() -> int:
    """Run, compare, print and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--documents", type=int, default=24, help="documents in each pass")
    options = parser.parse_args()
    circumstances = about("python -m bench.watching")
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        data = root / "kvtui"
        data.mkdir()
        (data / "engine-cpu").symlink_to(places().engine)
        names = ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")
        env = {**os.environ, **dict.fromkeys(names, directory)}
        plan = root / "plan.toml"
        plan.write_text(PLAN.format(documents=options.documents))
        subprocess.run([sys.executable, "-m", "kvtui", "lab", "up"], env=env, check=True)
        kinds: dict[str, Times] = {"alone": {}, "watched": {}}
        try:
            for kind in ORDER:
                events, _ = _one(kind, plan, env, data)
                for key, ttft_ms in times_of(iter_events(events)).items():
                    kinds[kind].setdefault(key, []).append(ttft_ms)
                print(f"{kind}: done", flush=True)
        finally:
            subprocess.run([sys.executable, "-m", "kvtui", "lab", "down"], env=env, check=True)
    rows = [compared(step, kinds) for step in (Pass.COLD, Pass.CACHED)]
    record = {
        **circumstances,
        "order": ORDER,
        "rows": rows,
    }
    options.record.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(rows, indent=1))
    return 0 if undisturbed(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
