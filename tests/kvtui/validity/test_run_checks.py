"""Checks over a whole run's events: each with its cause planted, and quiet without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kvtui.findings import Level
from kvtui.journal import Event
from kvtui.plan import Plan
from kvtui.results import result_of
from kvtui.samples import Pass
from tests.kvtui.live.runs import RUNS, Run, recorded
from tests.kvtui.live.test_load import sample

READ = {"hit_tokens": 2048, "retrieved_tokens": 2048, "retrieve_ms": 10.0, "retrieve_gib": 0.015625}
SHAPE = {"layers": 4, "kv_heads": 4, "head_dim": 64, "dtype_bytes": 4, "latent": False, "ranks": 1}


class Watched(Run):
    """A run whose node and store are sampled, as a quiet lab's are."""

    def __init__(self) -> None:
        super().__init__()
        self.others_cpu_s = 0.0
        self.step_s = 0.0
        self.calls = 0
        self.net = 1 << 30
        self.own("step_done", step="prepare", step_kind="PREPARE", seconds=1.0, record=SHAPE)
        self.ceiling("network", 2e9)
        self.look()

    def look(self, **more: Any) -> None:
        """The node's watcher looks."""
        others = {"cpu_s": self.others_cpu_s, "read_bytes": 0, "write_bytes": 0, "cpu_top": "python"}
        mono_s = self.now_s - 1_794_000_000
        self.now_s += self.step_s
        self.step_s = 0.0
        self.node_sample(**sample(cores=2, mono_s=mono_s, others={**others, "disk_top": ""}, **more))

    def store(self) -> None:
        """The store tells its counts."""
        calls = {"get_calls": self.calls, "set_calls": self.calls}
        self.own("store_sample", net_in_bytes=self.net, net_out_bytes=self.net, keys=64, **calls)

    def counters(self, moment: str, prefix_hits: float | None) -> None:
        """The engine tells its counters."""
        name = f"gpu-a.valkey-single.1.single.cached.{moment}"
        self.own("counters", name=name, values={"external_hits": 0.0, "prefix_hits": prefix_hits})

    def valkey(self, between: Callable[[], None] = lambda: None) -> None:
        """Both passes of the store's tier; the store counts 8 chunks of each of 8 requests."""
        for step, verdict, ms, evidence in (
            (Pass.COLD, "none", 420.0, {"hit_tokens": 0, "stored_tokens": 2048, "store_ms": 5.0}),
            (Pass.CACHED, "full", 60.0, READ),
        ):
            self.step("valkey", f"{step}/single")
            self.store()
            self.counters("before", 0.0)
            self.whole_pass("valkey", step, [ms] * 8, verdict, evidence=evidence)
            self.calls += 32
            self.net += 1 << 27
            between()
            self.now_s += 1
            self.look()
            self.store()
            self.step_done("valkey", f"{step}/single", step.name, 1.0)
        self.own("run_done")


def clean() -> Watched:
    run = Watched()
    run.valkey()
    return run


def hogged() -> Watched:
    run = Watched()

    def hog() -> None:
        run.others_cpu_s += 1.9

    run.valkey(hog)
    return run


def stepped() -> Watched:
    run = Watched()

    def step() -> None:
        run.step_s = 30.0

    run.valkey(step)
    return run


def second_client() -> Watched:
    run = Watched()

    def ask() -> None:
        run.calls += 100

    run.valkey(ask)
    return run


def restarted() -> Watched:
    run = Watched()

    def restart() -> None:
        run.calls, run.net = 0, 0

    run.valkey(restart)
    return run


def counted_prefix() -> Watched:
    run = Watched()
    run.valkey()
    run.counters("before", 16.0)
    run.counters("after", 2048.0)
    return run


def told_prefix() -> Watched:
    run = Watched()
    run.tier("none", [400.0] * 8, [30.0] * 8, "none", cached_tokens=2047)
    run.own("run_done")
    return run


def busy_gpu() -> Watched:
    run = Watched()
    for _ in range(6):
        run.now_s += 1
        run.look(engine=None, gpus=[{"index": 0, "utilisation_percent": 87}])
    run.valkey()
    return run


def read_in(retrieve_ms: float) -> Watched:
    """A run whose every cached request takes so long to read 16 MiB."""
    run = Watched()
    run.events.clear()
    run.ceiling("network", 2e9)
    evidence = {**READ, "retrieve_ms": retrieve_ms}
    run.tier("valkey", [420.0] * 8, [retrieve_ms + 50] * 8, "full", **evidence)
    run.own("run_done")
    return run


def too_fast() -> Watched:
    return read_in(4.0)


def throttled() -> Watched:
    return read_in(160.0)


def old_ceiling() -> Watched:
    run = Watched()
    run.now_s += 30 * 3600
    run.valkey()
    return run


PLANTED: list[tuple[str, Level, Callable[[], Watched], str]] = [
    ("processor-shared", Level.WARNING, hogged, "of gpu-a's 2 cores busy, most of it by python"),
    ("clock-stepped", Level.WARNING, stepped, "ahead by 30.0 s"),
    ("store-shared", Level.WARNING, second_client, "counted 528 calls of GET and SET"),
    ("store-lost", Level.WARNING, restarted, "started anew"),
    ("prefix-cache-on", Level.WARNING, counted_prefix, "2,032 tokens"),
    ("prefix-cache-on", Level.WARNING, told_prefix, "16,376 tokens"),
    ("gpu-shared", Level.WARNING, busy_gpu, "87 % busy"),
    ("faster-than-ceiling", Level.INFO, too_fast, "3.91 GiB/s"),
    ("below-ceiling", Level.WARNING, throttled, "read at 105 MB/s, 5 % of what the slowest way gave"),
    ("ceiling-old", Level.INFO, old_ceiling, "1 d ago"),
]


def codes(plan: Plan, events: list[Event]) -> list[str]:
    return [one.code for one in result_of("run", plan, events).findings]


@pytest.mark.parametrize(("code", "level", "plant", "words"), PLANTED, ids=[case[0] for case in PLANTED])
def test_a_planted_cause_is_found_by_tables_and_screen_alike(
    code: str, level: Level, plant: Callable[[], Watched], words: str
) -> None:
    run = plant()
    in_tables = [one for one in result_of("run", run.plan, run.events).findings if one.code == code]
    assert in_tables
    assert all(one.level is level for one in in_tables)
    assert words in in_tables[0].text
    assert [one.finding for one in run.view().findings if one.finding.code == code] == in_tables


def test_a_clean_run_is_quiet() -> None:
    run = clean()
    assert codes(run.plan, run.events) == []
    assert run.codes() == []


def test_the_slowest_way_of_asking_a_path_counts_since_the_fastest_may_be_nobodys() -> None:
    run = throttled()
    run.events.pop()
    run.ceiling("network", 1e9)
    run.own("run_done")
    assert codes(run.plan, run.events) == []


@pytest.mark.parametrize("retrieve_ms", [9.0, 80.0])
def test_software_that_takes_most_of_the_time_is_no_throttle(retrieve_ms: float) -> None:
    run = read_in(retrieve_ms)
    assert codes(run.plan, run.events) == []


def test_what_the_tables_say_of_storing_is_no_finding_beside_them() -> None:
    run = Watched()
    run.tier("none", [252.0] * 8, [252.0] * 8, "none")
    run.tier("valkey", [428.0] * 8, [60.0] * 8, "full", **READ)
    run.own("run_done")
    result = result_of("run", run.plan, run.events)
    assert [one.tier for one in result.economics] == ["valkey"]
    assert [one.code for one in result.findings] == []
    assert run.codes() == ["price-of-storing"]


def test_a_try_that_was_begun_anew_does_not_count() -> None:
    run = second_client()
    run.step("valkey", "empty", attempt=2)
    assert codes(run.plan, run.events) == []


def test_a_run_that_is_not_over_has_no_verdict_in_its_tables() -> None:
    run = second_client()
    assert codes(run.plan, run.events[:-1]) == []


def test_an_old_record_without_the_figures_gives_none_of_these() -> None:
    run = hogged()
    known = {"others", "mono_s", "mono_ns", "gpus", "get_calls", "set_calls", "net_in_bytes", "net_out_bytes"}
    old = [{name: value for name, value in event.items() if name not in known} for event in run.events]
    assert codes(run.plan, old) == []


MINE = {case[0] for case in PLANTED} | {"disk-shared", "network-shared"}


@pytest.mark.parametrize("name", ["lab", "good", "evicting", "zero-hit-fleet", "store-down", "engine-killed"])
def test_records_of_real_runs_without_such_a_cause_are_quiet(name: str) -> None:
    plan, events = recorded() if name == "lab" else recorded(RUNS / name)
    assert [one for one in codes(plan, list(events)) if one in MINE] == []
