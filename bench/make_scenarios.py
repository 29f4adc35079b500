"""Record runs in which something goes wrong, for tests: ``python -m bench.make_scenarios [NAME]``.

Each is a short run of kvtui on the lab, with a fault that is planted in its plan or, at a chosen moment, in
the lab. What belongs to the machine is replaced (``bench.redact``).
"""

from __future__ import annotations

import argparse
import getpass
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.place import kvtui
from bench.redact import redact
from kvtui.journal import read_events
from kvtui.paths import places
from kvtui.plan import Corpus, Engine, Hash, Model, Passes, Plan, Tier, TierKind, Topology
from kvtui.plan_toml import to_toml
from kvtui.record import RunRecord, records
from remote.lab import info, members, model

RECORDED = Path(__file__).parents[1] / "tests" / "data" / "runs"
MOST_BYTES = 200_000
# While an engine starts, its node's figures say little: one in so many is kept.
START_SAMPLES = 10
_LIMIT_S = 900.0
_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Moment:
    """When a fault strikes: after so many answers of a pass.

    Attributes:
        source: How the name of the pass's event source ends.
        answers: How many requests were answered.
    """

    source: str
    answers: int

    def has_come(self, record: RunRecord) -> bool:
        """Whether it is time."""
        events = read_events(record.events) if record.events.exists() else []
        answered = [e for e in events if e["kind"] == "done" and e["src"].endswith(self.source)]
        return len(answered) >= self.answers


@dataclass(frozen=True, slots=True)
class Scenario:
    """A run with a fault.

    Attributes:
        plan: The plan, its name that of the scenario.
        moment: When the lab is meddled with; ``None`` where the fault is in the plan.
        strike: What is done to the lab then.
    """

    plan: Plan
    moment: Moment | None = None
    strike: Callable[[info.LabInfo], None] | None = None


def _kill_store(lab: info.LabInfo) -> None:
    os.kill(lab.store.pid, signal.SIGKILL)


def _kill_engine(lab: info.LabInfo) -> None:
    for entry in members.find(lab.lab_id):
        if entry.command.startswith("VLLM::Engine"):
            os.kill(entry.pid, signal.SIGKILL)


def _plan(
    name: str,
    tier: Tier,
    topology: Topology = Topology.SINGLE,
    hashing: Hash | None = None,
    output_tokens: int = 1,
) -> Plan:
    return Plan(
        name=name,
        lab=True,
        model=Model(path=model.SERVED_NAME, served_name=model.SERVED_NAME, kv_bytes_per_token=8192),
        corpus=Corpus(documents=4, tokens=2064),
        engine=Engine(output_tokens=output_tokens),
        hash=hashing or Hash(),
        passes=Passes(topologies=(topology,)),
        tiers=(tier,),
    )


def scenarios() -> tuple[Scenario, ...]:
    """All of them."""
    valkey = Tier(name="valkey", kind=TierKind.VALKEY, capacity_gib=1)
    dram = Tier(name="dram", kind=TierKind.DRAM, capacity_gib=1)
    differing = Hash(seed_on={"gpu-b": "1"}, accept_differing=True)
    return (
        Scenario(_plan("evicting", dram.model_copy(update={"capacity_gib": 0.0469}))),
        Scenario(_plan("zero-hit-fleet", valkey, Topology.FLEET, differing)),
        Scenario(_plan("store-down", valkey, output_tokens=32), Moment("single.cold", 2), _kill_store),
        # The answers are long, so that the pass is still under way.
        Scenario(_plan("engine-killed", dram, output_tokens=64), Moment("single.cached", 2), _kill_engine),
    )


def _carry_out(scenario: Scenario, env: Mapping[str, str], data: Path) -> RunRecord:
    """Launch a scenario's run, strike, and wait for its end."""
    known = set(records(data / "runs"))
    struck = scenario.moment is None
    with tempfile.TemporaryDirectory() as directory:
        plan = Path(directory) / "plan.toml"
        plan.write_text(to_toml(scenario.plan), encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, "-m", "kvtui", "launch", str(plan), "--json"],
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        deadline_s = time.monotonic() + _LIMIT_S
        while process.poll() is None and not struck and time.monotonic() < deadline_s:
            fresh = set(records(data / "runs")) - known
            lab = info.read(data / "lab" / "lab.json")
            if (
                fresh
                and lab
                and scenario.moment
                and scenario.strike
                and scenario.moment.has_come(fresh.pop())
            ):
                scenario.strike(lab)
                struck = True
            time.sleep(_POLL_S)
        _, said = process.communicate(timeout=_LIMIT_S)
    record = next(iter(set(records(data / "runs")) - known))
    print(f"{scenario.plan.name}: exit {process.returncode}, {said.strip().splitlines()[-1:]}", flush=True)
    if not struck:
        raise SystemExit(f"The fault of {scenario.plan.name} never struck: {said}")
    return record


def _redacted(text: str, data: Path) -> str:
    """Text without this machine's paths, user and name."""
    names = {
        str(data): "~/.local/share/kvtui",
        str(places().engine.resolve()): "~/.local/share/kvtui/engine-cpu",
        str(Path(__file__).parents[1]): "~/kvtui",
        f"{getpass.getuser()}@{socket.gethostname()}": "user@operator",
    }
    host = re.compile(rf"(?<![\w-]){re.escape(socket.gethostname())}(?![\w-])")
    return host.sub("operator", redact(text, names))


def _thinned(events: str) -> str:
    """Events without most of the nodes' figures from before the first warm-up."""
    kept, seen, serving = [], 0, False
    for line in events.splitlines():
        event = json.loads(line)
        serving = serving or event.get("step_kind") == "ENGINES"
        if event["kind"] == "node_sample" and not serving:
            seen += 1
            if seen % START_SAMPLES:
                continue
        kept.append(line)
    return "\n".join(kept) + "\n"


def _keep(record: RunRecord, data: Path, to: Path) -> None:
    """Write a run's plan, events and logs as a recording."""
    files = {"plan.json": record.plan_file, "events.jsonl": record.events}
    files |= {f"logs/{path.name}": path for path in sorted((record.path / "logs").iterdir())}
    for name, path in files.items():
        text = _redacted(path.read_text(encoding="utf-8"), data)
        text = _thinned(text) if name == "events.jsonl" else text
        if len(text.encode()) > MOST_BYTES:
            raise SystemExit(f"{name} of run {record.run} is too large: {len(text):,} characters.")
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        (to / name).write_text(text, encoding="utf-8")


def main() -> None:
    """Carry the scenarios out, and record them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="which, all without a name")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        data = Path(directory) / "kvtui"
        data.mkdir()
        (data / "engine-cpu").symlink_to(places().engine)
        env = {**os.environ, "XDG_DATA_HOME": directory, "XDG_STATE_HOME": directory}
        try:
            for scenario in scenarios():
                if not options.names or scenario.plan.name in options.names:
                    record = _carry_out(scenario, env, data)
                    _keep(record, data, RECORDED / scenario.plan.name)
        finally:
            kvtui(env, "lab", "down")


if __name__ == "__main__":
    main()
