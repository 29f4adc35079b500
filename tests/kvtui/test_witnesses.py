"""Witnesses that disagree: each is found when planted, and none where all agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.attribution import Verdict
from kvtui.findings import Level
from kvtui.pass_counts import EngineTimes, StoreCounts
from kvtui.plan import TierKind
from kvtui.samples import Pass, Sample
from kvtui.served import Moved, evidence_of_bytes
from kvtui.witnesses import PassFacts, witness_findings
from tests.kvtui.test_served import COLD_DISK, DRAM, ENGINE_OWN, KV, VALKEY, WARM_DISK, sample

MOVED = {TierKind.VALKEY: VALKEY, TierKind.DISK: COLD_DISK, TierKind.DRAM: DRAM}
SEEN = {"hit_tokens": 1024, "retrieved_tokens": 1024, "retrieve_ms": 12.0, "cached_tokens": 1023}
N = 6
# In the mean of six: TTFT 28 by the engine, 30 by the probe, 33 with all of HTTP; prefill 25.
TIMES = EngineTimes(ttft_ms=28 * N, queue_ms=0.1 * N, prefill_ms=25 * N, e2e_ms=28 * N, http_ms=33 * N)
STORE = StoreCounts(get_calls=4 * N, net_out_bytes=N * (KV + 300), seconds=2.0)


def request(kind: TierKind, **evidence: Any) -> Sample:
    """A request that was reused whole, and what else was seen of it."""
    moved = evidence.pop("moved", MOVED[kind])
    size = evidence.pop("retrieved_bytes", KV)
    kept = {**SEEN, **evidence, **evidence_of_bytes(kind, Verdict.FULL, moved or Moved(), size, None)}
    return sample(tier=kind.value, evidence={k: v for k, v in kept.items() if v is not None})


def clean(kind: TierKind, **changes: Any) -> PassFacts:
    """A cached pass whose witnesses agree."""
    facts = PassFacts(
        kind=kind,
        where=f"{kind} · single · cached",
        samples=[request(kind)] * N,
        chunk_tokens=256,
        bytes_per_token=8192,
        external_hit_tokens=1023 * N,
        times=TIMES,
        total_ms=34 * N,
        store=STORE if kind is TierKind.VALKEY else None,
    )
    return replace(facts, **changes)


def found(facts: PassFacts) -> list[tuple[str, str]]:
    findings = witness_findings(facts)
    assert all(one.level is Level.WARNING and one.where == facts.where for one in findings)
    return [(one.code, one.text) for one in findings]


@pytest.mark.parametrize("kind", [TierKind.VALKEY, TierKind.DISK, TierKind.DRAM])
def test_witnesses_that_agree_are_no_finding(kind: TierKind) -> None:
    assert found(clean(kind)) == []


def cold_sample(kind: TierKind, **moved: int) -> Sample:
    evidence: Mapping[str, Any] = {
        "hit_tokens": 0,
        "cached_tokens": 0,
        "stored_tokens": 1024,
        "retrieved_bytes": 0,
        "moved": {"engine_read_bytes": 0, "engine_rchar_bytes": ENGINE_OWN, "store_rx_bytes": 600, **moved},
    }
    changes: dict[str, Any] = {"step": Pass.COLD, "tier": kind.value, "reused_tokens": 0}
    return sample(Verdict.NONE, **changes, evidence=dict(evidence))


@pytest.mark.parametrize("kind", [TierKind.VALKEY, TierKind.DISK, TierKind.DRAM, TierKind.NONE])
def test_a_clean_cold_pass_is_quiet(kind: TierKind) -> None:
    store = StoreCounts(0, 40_000, 4.0) if kind is TierKind.VALKEY else None
    facts = replace(
        clean(TierKind.DRAM), kind=kind, samples=[cold_sample(kind)] * N, external_hit_tokens=0, store=store
    )
    assert found(facts) == []


def test_a_warm_page_cache_is_no_disagreement() -> None:
    warm = [request(TierKind.DISK, moved=WARM_DISK)] * N
    assert found(clean(TierKind.DISK, samples=warm)) == []


def test_reads_that_are_no_calls_of_read_are_the_device_s() -> None:
    mapped = [request(TierKind.DISK, moved=replace(COLD_DISK, engine_rchar_bytes=ENGINE_OWN))] * N
    assert found(clean(TierKind.DISK, samples=mapped)) == []


def one_of(kind: TierKind, planted: Sample) -> list[Sample]:
    return [planted, *[request(kind)] * (N - 1)]


def test_the_engine_told_the_client_something_else_than_lmcache_read() -> None:
    odd = replace(request(TierKind.VALKEY, cached_tokens=511), verdict=Verdict.UNKNOWN, reused_tokens=None)
    facts = clean(TierKind.VALKEY, samples=one_of(TierKind.VALKEY, odd))
    assert found(facts) == [
        (
            "witnesses-disagree",
            "1 of 6 requests, first legal-001: LMCache read 1024 tokens, the engine told the client "
            "511 cached.",
        )
    ]


def test_a_hit_that_was_never_read_though_the_client_was_told_so() -> None:
    odd = replace(
        request(TierKind.DRAM, retrieved_tokens=None, retrieved_bytes=None),
        verdict=Verdict.UNKNOWN,
        reused_tokens=None,
    )
    [(code, text)] = found(clean(TierKind.DRAM, samples=one_of(TierKind.DRAM, odd)))
    assert code == "witnesses-disagree"
    assert "LMCache read 0 tokens, the engine told the client 1023 cached" in text


def test_the_engine_s_counter_says_something_else() -> None:
    assert found(clean(TierKind.DRAM, external_hit_tokens=0)) == [
        ("witnesses-disagree", "The engine counted 0 tokens from outside, the requests' evidence says 6138.")
    ]


def test_a_tier_that_its_bytes_did_not_come_from() -> None:
    from_memory = request(TierKind.VALKEY, moved=replace(VALKEY, store_rx_bytes=300))
    facts = clean(TierKind.VALKEY, samples=[from_memory] * N, store=None)
    (first, text), (second, _) = found(facts)
    assert (first, second) == ("witnesses-disagree", "bytes-disagree")
    assert text.startswith("6 of 6 requests, first legal-001: LMCache read 8.39 MB of KV in tier valkey, ")
    assert "the counts say dram: no bytes came from outside" in text


def test_dram_that_was_really_read_from_files() -> None:
    odd = request(TierKind.DRAM, moved=WARM_DISK)
    [(code, text)] = found(clean(TierKind.DRAM, samples=one_of(TierKind.DRAM, odd)))
    assert code == "witnesses-disagree"
    assert "the counts say page cache: 1.00 of the bytes were read from files" in text


def test_bytes_came_though_nothing_is_said_to_have_been_read() -> None:
    odd = [cold_sample(TierKind.VALKEY, store_rx_bytes=KV)] * N
    facts = clean(TierKind.VALKEY, samples=odd, external_hit_tokens=0, store=None)
    assert found(facts) == [
        (
            "witnesses-disagree",
            "6 of 6 requests, first legal-001: LMCache read nothing, 8.39 MB came in where its KV "
            "is 8.38 MB.",
        )
    ]


def test_the_store_was_asked_too_seldom() -> None:
    facts = clean(TierKind.VALKEY, store=replace(STORE, get_calls=23))
    assert found(facts) == [
        ("witnesses-disagree", "LMCache read 24 chunks, the store counted 23 calls of GET.")
    ]


@pytest.mark.parametrize("factor", [0.5, 0.97, 1.05, 3.0])
def test_the_store_sent_other_bytes_than_were_read(factor: float) -> None:
    facts = clean(TierKind.VALKEY, store=replace(STORE, net_out_bytes=int(N * KV * factor)))
    [(code, text)] = found(facts)
    assert code == "bytes-disagree"
    assert text.startswith("LMCache read 50.33 MB of KV, the store sent ")


@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_the_engine_s_connections_carried_other_bytes(factor: float) -> None:
    odd = request(TierKind.VALKEY, moved=replace(VALKEY, store_rx_bytes=int(KV * factor)))
    [(_, text)] = [
        one for one in found(clean(TierKind.VALKEY, samples=[odd] * N)) if one[0] == "bytes-disagree"
    ]
    assert "its connections to the store got" in text


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        (
            {"engine_rchar_bytes": KV // 2, "engine_read_bytes": KV // 2},
            "the engine read 25.17 MB from files",
        ),
        ({"engine_rchar_bytes": 2 * KV}, "the engine read 100.66 MB from files"),
        ({"engine_read_bytes": 2 * KV}, "the engine read 100.66 MB from"),
    ],
)
def test_the_engine_read_other_bytes_from_the_disk(counts: dict[str, int], words: str) -> None:
    odd = request(TierKind.DISK, moved=replace(COLD_DISK, **counts))
    [(_, text), *_] = [
        one for one in found(clean(TierKind.DISK, samples=[odd] * N)) if one[0] == "bytes-disagree"
    ]
    assert text.startswith("LMCache read 50.33 MB of KV, ")
    assert words in text


@pytest.mark.parametrize(
    ("times", "words"),
    [
        # The probe measured 30 where the engine needed 60, or where all of HTTP and the way was 21.
        (replace(TIMES, ttft_ms=60 * N, e2e_ms=60 * N, http_ms=66 * N), "the engine's 60.0 ms"),
        (
            replace(TIMES, ttft_ms=19 * N, e2e_ms=32 * N, prefill_ms=15 * N, http_ms=33 * N),
            "21.0 ms with all",
        ),
        (replace(TIMES, prefill_ms=40 * N), "Queue and prefill are 40.1 ms in the mean"),
        (replace(TIMES, prefill_ms=6 * N), "LMCache's retrieve is 12.0 ms in the mean"),
    ],
)
def test_parts_that_do_not_add_up(times: EngineTimes, words: str) -> None:
    [(code, text)] = found(clean(TierKind.DRAM, times=times))
    assert code == "parts-do-not-add-up"
    assert words in text


def test_a_long_way_to_the_engine_is_told_and_a_short_one_is_not() -> None:
    [(code, text)] = found(clean(TierKind.DRAM, total_ms=41 * N))
    assert code == "parts-do-not-add-up"
    assert text == (
        "Between the probe and the engine's server 8.0 ms are spent in the mean, of a TTFT of 30.0 ms."
    )
    assert found(clean(TierKind.DRAM, total_ms=37 * N)) == []
    assert found(clean(TierKind.DRAM, total_ms=None, times=replace(TIMES, prefill_ms=1e6))) == []


def test_within_5_ms_or_5_percent_parts_add_up() -> None:
    slow = [replace(request(TierKind.DRAM), ttft_ms=1030.0)] * N
    times = EngineTimes(ttft_ms=1080 * N, queue_ms=0, prefill_ms=1070 * N, e2e_ms=1080 * N, http_ms=1090 * N)
    assert found(clean(TierKind.DRAM, samples=slow, times=times, total_ms=1095 * N)) == []
    assert found(clean(TierKind.DRAM, times=replace(TIMES, ttft_ms=34.5 * N, e2e_ms=34.5 * N))) == []


def test_what_is_not_known_is_held_against_nobody() -> None:
    bare = [replace(request(kind), evidence={**SEEN}) for kind in (TierKind.VALKEY,)] * N
    facts = clean(TierKind.VALKEY, samples=bare, times=None, store=None, external_hit_tokens=None)
    assert found(facts) == []
    failed = replace(request(TierKind.VALKEY), ttft_ms=None, reused_tokens=None, verdict=Verdict.UNKNOWN)
    known = [failed, *bare[1:]]
    assert found(clean(TierKind.VALKEY, samples=known, store=None, external_hit_tokens=None)) == []
    assert found(clean(TierKind.VALKEY, samples=[], store=None, external_hit_tokens=None)) == []


@given(
    drop=st.sets(
        st.sampled_from(["moved", "retrieved_bytes", "retrieve_ms", "hit_tokens", "cached_tokens", "times"])
    )
)
def test_a_witness_that_is_absent_never_makes_a_finding(drop: set[str]) -> None:
    for kind in MOVED:
        kept = {name: None for name in drop if name != "times"}
        facts = clean(kind, samples=[request(kind, **kept)] * N, times=None if "times" in drop else TIMES)
        assert found(facts) == []
