"""Rows of a preflight: each fault that is planted is found in its row, and a clean node is quiet."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from kvtui.check import Known
from kvtui.findings import Level
from kvtui.nodefacts import Gpu, GpuProcess, NodeFacts
from kvtui.plan import Plan, TierKind
from kvtui.preflight import (
    Answers,
    Asking,
    CheckRow,
    Holder,
    ModelConfig,
    Question,
    RoundTrip,
    State,
    Subject,
    Unanswered,
    rows,
    verdict,
)
from kvtui.preflight.answers import Answer
from kvtui.storefacts import StoreFacts
from tests.kvtui.knowing import GIB, QWEN, ceiling, changed, facts, mount, seed_plan, store
from tests.kvtui.some_plans import PLANS

VERSIONS = {
    "vllm": "0.28.0",
    "lmcache": "0.5.4",
    "valkey-glide-sync": "2.5.1",
    "torch": "2.9",
    "python": "3.11.7",
}
GPU = Gpu(0, "H200", 141 * GIB, GIB, 0, "570", ())
DISK = next(tier for tier in seed_plan().tiers if tier.kind is TierKind.DISK)
STORE_NODE = seed_plan().store.node if seed_plan().store else ""  # type: ignore[union-attr]


def node(name: str, **known: Any) -> NodeFacts:
    """A node on which all is well."""
    whole = facts(
        name,
        hostname=name,
        ram_gib=2000,
        free_gib=1900,
        mounts=(mount("/"), mount(DISK.path or "/")),
        versions=VERSIONS,
    )
    whole = replace(whole, python="3.11.7", clock_skew_s=0.002, rtt_ms=1.0, gpus=(GPU,), can_drop_caches=True)
    return replace(whole, **known)


def good_store(**known: Any) -> StoreFacts:
    """A store on which all is well."""
    clean = {
        "version": "9.1.1",
        "mode": "standalone",
        "used_memory_bytes": GIB,
        "maxmemory_bytes": 100 * GIB,
        "policy": "noeviction",
        "rdb_saves": "",
        "aof": False,
        "proto_max_bulk_bytes": GIB,
    }
    return store(**{**clean, **known})


def subject(plan: Plan | None = None, **more: Any) -> Subject:
    """The seed's plan on three nodes."""
    plan = plan or seed_plan()
    kinds = (("memory", ""), ("disk-read", DISK.path or ""), ("network", "valkey:6379"))
    ceilings = tuple(
        ceiling(name, what, 5e9, target)  # type: ignore[arg-type]
        for name in ("gpu-a", "gpu-b")
        for what, target in kinds
    )
    fields: dict[str, Any] = {
        "plan": plan,
        "own": plan,
        "nodes": ("gpu-a", "gpu-b", STORE_NODE),
        "store_node": STORE_NODE,
        "lab": "",
        "base": Known(ceilings=ceilings),
        "homes": dict.fromkeys(("gpu-a", "gpu-b"), "/home/u"),
        "now_wall_s": 60.0,
    }
    return Subject(**{**fields, **more})


def answers(changes: dict[tuple[Question, str], Answer | None] | None = None) -> Answers:
    """Everything answered well, but for the changes; ``None`` for not yet."""
    given_: dict[tuple[Question, str], Answer | None] = {}
    for name in ("gpu-a", "gpu-b"):
        given_[Question.FACTS, name] = node(name)
        given_[Question.LOCK, name] = Holder()
        given_[Question.PORTS, name] = (25800, 26100)
        given_[Question.MODEL, name] = ModelConfig("a91c02ef99", QWEN)
        given_[Question.VALUE, name] = RoundTrip(12.0, 14_680_064)
    given_[Question.FACTS, STORE_NODE] = replace(node(STORE_NODE), versions={}, gpus=())
    given_[Question.LOCK, STORE_NODE] = Holder()
    given_[Question.STORE, STORE_NODE] = good_store()
    return {key: value for key, value in {**given_, **(changes or {})}.items() if value is not None}


def table(
    changes: dict[tuple[Question, str], Answer | None] | None = None, of: Subject | None = None
) -> dict[tuple[str, str], CheckRow]:
    """All rows by check and node."""
    return {(row.id, row.node): row for row in rows(of or subject(), answers(changes))}


def test_clean_nodes_are_quiet() -> None:
    found = table()
    # The seed's own plan has a tier that is too small on purpose.
    small = {row.id for row in verdict(found.values()).warnings}
    assert small <= {"fit:dram"}
    assert verdict(found.values()).blocking == ()
    assert not {State.RUNNING, State.WAITING, State.UNKNOWN} & {row.state for row in found.values()}


FACTS_FAULTS = [
    ({"clock_skew_s": -0.2}, "ssh", State.WARNING, "clock-skew"),
    ({"versions": {}, "engine_problem": "no such file"}, "engine", State.FAILED, "no-engine"),
    ({"versions": {"vllm": "0.28.0", "lmcache": "0.5.4"}}, "engine", State.FAILED, "engine-lacks"),
    ({"versions": {**VERSIONS, "lmcache": "0.5.6"}}, "versions", State.WARNING, "versions-differ"),
    ({"gpus": (replace(GPU, memory_used_bytes=30 * GIB),)}, "gpu-memory", State.FAILED, "gpu-memory"),
    ({"gpus": ()}, "gpu-memory", State.WARNING, "no-gpu"),
    (
        {"gpus": (replace(GPU, foreign=(GpuProcess(7, "python", GIB),)),)},
        "gpu-foreign",
        State.WARNING,
        "gpu-foreign",
    ),
    (
        {"ram_total_bytes": 8 * GIB, "ram_available_bytes": 2 * GIB},
        "ram",
        State.FAILED,
        "capacity-beyond-ram",
    ),
    (
        {"mounts": (mount("/", size_gib=5, free_gib=1),)},
        "disk:disk",
        State.FAILED,
        "capacity-beyond-disk",
    ),
    ({"mounts": (mount("/", kind="memory"),)}, "mount:disk", State.WARNING, "disk-tier-mount"),
    ({"mounts": (mount("/", kind="memory"),)}, "cold:disk", State.WARNING, "never-cold"),
    ({"mounts": (mount("/", kind="network"),)}, "mount:disk", State.WARNING, "disk-tier-mount"),
]


@pytest.mark.parametrize(
    ("change", "check", "state", "code"), FACTS_FAULTS, ids=[f"{one[1]}-{one[3]}" for one in FACTS_FAULTS]
)
def test_a_fault_of_a_node_is_found_in_its_row(
    change: dict[str, Any], check: str, state: State, code: str
) -> None:
    row = table({(Question.FACTS, "gpu-b"): node("gpu-b", **change)})[check, "gpu-b"]
    assert row.state is state
    assert row.finding is not None
    assert row.finding.code == code
    assert table()[check, "gpu-b"].state is State.OK


ANSWER_FAULTS: list[tuple[Question, Answer, str, State, str]] = [
    (Question.LOCK, Holder("261101-000000-aaaa", "ann@desk"), "lock", State.FAILED, "node-busy"),
    (Question.MODEL, ModelConfig(""), "model", State.FAILED, "model-missing"),
    (Question.MODEL, ModelConfig("", from_hub=True), "model", State.WARNING, "model-not-cached"),
    (Question.MODEL, ModelConfig("ffff", QWEN), "model", State.FAILED, "model-differs"),
    (
        Question.MODEL,
        ModelConfig("a91c02ef99", None, "unknown architecture."),
        "model",
        State.FAILED,
        "model-unknown",
    ),
    (Question.VALUE, Unanswered("Valkey refuses.", word="refused"), "value", State.FAILED, "store-value"),
    (Question.PORTS, Unanswered("There are no ports."), "ports", State.UNKNOWN, "ports-unknown"),
    (Question.FACTS, Unanswered("It is gone.", word="down"), "ssh", State.FAILED, "node-down"),
]


@pytest.mark.parametrize(
    ("question", "answer", "check", "state", "code"), ANSWER_FAULTS, ids=[one[4] for one in ANSWER_FAULTS]
)
def test_a_bad_answer_is_found_in_its_row(
    question: Question, answer: Answer, check: str, state: State, code: str
) -> None:
    row = table({(question, "gpu-b"): answer})[check, "gpu-b"]
    assert row.state is state
    assert row.finding is not None
    assert row.finding.code == code


@pytest.mark.parametrize(
    ("change", "check", "state", "code"),
    [
        ({"maxmemory_bytes": 2 * GIB}, "store-room", State.WARNING, "store-too-small"),
        ({"proto_max_bulk_bytes": 1024}, "store-room", State.FAILED, "store-bulk-limit"),
        ({"policy": "volatile-lru"}, "store-policy", State.WARNING, "store-volatile-policy"),
        ({"rdb_saves": "3600 1"}, "store-saves", State.WARNING, "store-rdb-saves"),
        ({"aof": True}, "store-saves", State.WARNING, "store-aof"),
        ({"tls": "only"}, "store", State.FAILED, "store-tls-only"),
        ({"mode": "cluster"}, "store", State.FAILED, "store-not-standalone"),
    ],
)
def test_a_fault_of_the_store_is_found_in_its_row(
    change: dict[str, Any], check: str, state: State, code: str
) -> None:
    row = table({(Question.STORE, STORE_NODE): good_store(**change)})[check, STORE_NODE]
    assert row.state is state
    assert row.finding is not None
    assert row.finding.code == code
    assert table()[check, STORE_NODE].state is State.OK


def test_a_disk_with_room_for_the_plan_but_not_for_more_is_a_warning() -> None:
    size = QWEN.document_bytes(10_000, 256) * 30 / GIB
    roomy = changed(seed_plan(), corpus={"tokens": 10_000, "documents": 30})
    tiers = tuple(
        tier.model_copy(update={"capacity_gib": size / 2}) if tier.kind is TierKind.DISK else tier
        for tier in roomy.tiers
    )
    plan = roomy.model_copy(update={"tiers": tiers})
    half = size / 2
    tight = node("gpu-b", mounts=(mount("/", size_gib=1.2 * half, free_gib=1.15 * half),))
    row = table({(Question.FACTS, "gpu-b"): tight}, subject(plan))["disk:disk", "gpu-b"]
    assert (row.state, row.finding and row.finding.code) == (State.WARNING, "disk-free")
    assert "<" in row.measured


def test_seeds_that_differ_fail_and_can_be_fixed() -> None:
    plan = changed(seed_plan(), hash={"seed_on": {"gpu-b": "1"}})
    row = table(of=subject(plan))["sharing", ""]
    assert (row.state, row.finding and row.finding.code) == (State.FAILED, "hash-seed-differs")
    assert "PYTHONHASHSEED" in row.fix
    accepted = changed(seed_plan(), hash={"seed_on": {"gpu-b": "1"}, "accept_differing": True})
    assert table(of=subject(accepted))["sharing", ""].state is State.WARNING


def test_every_blocking_finding_of_the_assessment_blocks() -> None:
    plan = changed(seed_plan(), engine={"extra_args": ["--enable-prefix-caching"]})
    blocking = verdict(table(of=subject(plan)).values()).blocking
    assert [row.finding.code for row in blocking if row.finding] == ["engine-option-taken"]


@pytest.mark.parametrize("share", ["0", "x", "1.5"])
def test_an_option_that_vllm_cannot_take_blocks(share: str) -> None:
    plan = changed(seed_plan(), engine={"extra_args": [f"--gpu-memory-utilization={share}"]})
    assert table(of=subject(plan))["gpu-memory", "gpu-a"].state is State.FAILED


def test_the_share_of_gpu_memory_is_the_plans() -> None:
    full: dict[tuple[Question, str], Answer | None] = {
        (Question.FACTS, "gpu-a"): node("gpu-a", gpus=(replace(GPU, memory_used_bytes=30 * GIB),))
    }
    plan = changed(seed_plan(), engine={"extra_args": ["--gpu-memory-utilization", "0.7"]})
    assert table(full)["gpu-memory", "gpu-a"].state is State.FAILED
    assert table(full, subject(plan))["gpu-memory", "gpu-a"].state is State.OK
    two = changed(seed_plan(), engine={"extra_args": ["-tp", "2"]})
    row = table(of=subject(two))["gpu-memory", "gpu-a"]
    assert row.finding is not None
    assert row.finding.code == "too-few-gpus"


def test_ceilings_that_are_missing_or_old_can_be_measured() -> None:
    none = table(of=subject(base=Known()))["ceilings", "gpu-a"]
    assert none.state is State.UNKNOWN
    assert "gpu-a" in none.fix
    old = table(of=subject(now_wall_s=3 * 86400.0))["ceilings", "gpu-a"]
    assert old.finding is not None
    assert old.finding.level is Level.INFO
    assert "3 d ago" in old.measured


def test_what_is_not_answered_yet_waits_and_blocks_nothing() -> None:
    found = rows(subject(), {})
    assert {row.state for row in found if row.id != "ceilings"} <= {State.WAITING, State.RUNNING}
    assert verdict(found).blocking == ()
    asked = table({(Question.FACTS, "gpu-a"): Asking()})
    assert asked["engine", "gpu-a"].state is State.RUNNING
    assert asked["engine", "gpu-b"].state is State.OK
    assert asked["sharing", ""].state is State.RUNNING


def test_a_gone_node_is_told_of_once() -> None:
    gone = Unanswered("It is gone.", word="down")
    changes: dict[tuple[Question, str], Answer | None] = {
        (question, "gpu-b"): gone
        for question in (Question.FACTS, Question.LOCK, Question.PORTS, Question.MODEL, Question.VALUE)
    }
    blocking = verdict(table(changes).values()).blocking
    assert [(row.id, row.node) for row in blocking] == [("ssh", "gpu-b")]
    assert verdict(blocking).sentence() == "Launch is blocked by: ssh, clock within 50 ms on gpu-b."


def test_a_lab_that_is_down_has_only_the_plan_to_check() -> None:
    found = rows(subject(nodes=(), store_node="", lab="down"), {})
    assert found[0].measured == "will be started"
    assert {row.node for row in found} == {""}
    assert verdict(found).blocking == ()


@given(PLANS)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
def test_no_plan_makes_the_checks_raise(plan: Plan) -> None:
    for given_ in ({}, answers()):
        nodes = (*plan.engine_nodes, "valkey")
        found = rows(subject(plan, nodes=nodes, store_node="valkey"), given_)
        assert len({(row.id, row.node) for row in found}) == len(found)
        verdict(found).sentence()
