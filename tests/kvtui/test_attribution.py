"""Verdicts: what counts as reuse, what does not, and what nobody can know."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.attribution import Evidence, Verdict, collect, judge, reusable_tokens, with_cached_tokens
from kvtui.loglines import LoadRecovered, Lookup, Retrieve, Store, all_figures

LOGS = Path(__file__).parents[1] / "data" / "logs"


def test_a_tail_is_never_reusable_and_the_last_token_is_always_computed() -> None:
    assert reusable_tokens(10_000, 256) == 9_984
    assert reusable_tokens(10_012, 256) == 9_984
    assert reusable_tokens(2_048, 256) == 2_047
    assert reusable_tokens(26, 256) == 0


@pytest.mark.parametrize(
    ("evidence", "verdict", "reused"),
    [
        (Evidence(hit_tokens=9984, retrieved_tokens=9984, cached_tokens=9984), Verdict.FULL, 9984),
        (Evidence(hit_tokens=9984, retrieved_tokens=9984), Verdict.FULL, 9984),
        (Evidence(hit_tokens=2560, retrieved_tokens=2560, cached_tokens=2560), Verdict.PARTIAL, 2560),
        (Evidence(hit_tokens=0, cached_tokens=0), Verdict.NONE, 0),
        (Evidence(hit_tokens=9984, cached_tokens=0), Verdict.NONE, 0),
        (Evidence(hit_tokens=9984, retrieved_tokens=0, cached_tokens=0), Verdict.NONE, 0),
        (Evidence(cached_tokens=0), Verdict.NONE, 0),
        (Evidence(cached_tokens=9984), Verdict.UNKNOWN, None),
        (Evidence(), Verdict.UNKNOWN, None),
        (Evidence(hit_tokens=9984, retrieved_tokens=9984, cached_tokens=0), Verdict.UNKNOWN, None),
        (Evidence(hit_tokens=0, cached_tokens=9984), Verdict.UNKNOWN, None),
        (Evidence(hit_tokens=9984, retrieved_tokens=9984, cached_tokens=256), Verdict.UNKNOWN, None),
        (Evidence(hit_tokens=9984, retrieved_tokens=2560, cached_tokens=9984), Verdict.UNKNOWN, None),
        (
            Evidence(hit_tokens=9984, retrieved_tokens=9984, cached_tokens=9984, recovered=True),
            Verdict.UNKNOWN,
            None,
        ),
    ],
)
def test_verdict(evidence: Evidence, verdict: Verdict, reused: int | None) -> None:
    found = judge(evidence, 9984, lmcache_on=True)
    assert (found.verdict, found.reused_tokens) == (verdict, reused)
    assert found.reason


def test_without_lmcache_the_engine_is_the_witness() -> None:
    assert judge(Evidence(cached_tokens=0), 9984, lmcache_on=False).verdict is Verdict.NONE
    assert judge(Evidence(), 9984, lmcache_on=False).verdict is Verdict.UNKNOWN


def test_whole_chunks_are_a_full_hit_though_one_token_is_computed() -> None:
    seen = Evidence(hit_tokens=2048, retrieved_tokens=2048, cached_tokens=2047)
    found = judge(seen, reusable_tokens(2048, 256), lmcache_on=True)
    assert (found.verdict, found.reused_tokens) == (Verdict.FULL, 2047)


def test_steps_of_one_request_add_up_and_a_recovery_belongs_to_the_request_under_way() -> None:
    found = collect(
        [
            Lookup("cmpl-a-0-00000000", 10_000, 0, 0, 0),
            Store("cmpl-a-0-00000000", 2048, 2048, 0.1, 3.0),
            Store("cmpl-a-0-00000000", 1792, 1792, 0.1, 2.0),
            Lookup("cmpl-b-0-00000000", 10_000, 0, 9984, 9984),
            LoadRecovered(1),
            Retrieve("cmpl-b-0-00000000", 512, 9984, 0.01, 1.0),
        ]
    )
    assert found["a"] == Evidence(hit_tokens=0, stored_tokens=3840, store_ms=5.0)
    assert found["b"].recovered
    assert not found["a"].recovered


def test_lmcache_has_said_all_when_nothing_is_to_be_read_or_it_was_read() -> None:
    assert Evidence(hit_tokens=0).whole()
    assert Evidence(hit_tokens=256, retrieved_tokens=256).whole()
    assert not Evidence(hit_tokens=256).whole()
    assert not Evidence(cached_tokens=0).whole()


READ = (
    "({process} pid={pid}) [2026-07-14 10:02:09,001] LMCache INFO: [req_id=cmpl-a-0-9f8e7d6c] Retrieved "
    "{tokens} out of {tokens} required tokens (from 9984 total tokens). size: {gib} gb, cost {ms} ms, "
    "throughput: 1.0880 GB/s; (cache_engine.py:958:lmcache.v1.cache_engine)"
)
STORED = (
    "({process} pid={pid}) [2026-07-14 10:02:11,001] LMCache INFO: [req_id=cmpl-a-0-9f8e7d6c] Stored "
    "{tokens} out of total {tokens} tokens. size: {gib} GB, cost {ms} ms, throughput: 12.0 GB/s; "
    "offload_time: 17.2 ms, put_time: 0.9 ms (cache_engine.py:577:lmcache.v1.cache_engine)"
)
LOOKED_UP = (
    "(EngineCore pid=70) [2026-07-14 10:02:08,598] LMCache INFO: Reqid: cmpl-a-0-9f8e7d6c, Total tokens "
    "10000, Inference Engine computed tokens: 0, LMCache hit tokens: 9984, need to load: 9984 "
    "(vllm_v1_adapter.py:1473:lmcache.integration.vllm.vllm_v1_adapter)"
)


def of_ranks(template: str, *tokens: int, name: str = "Worker_TP{rank}") -> list[str]:
    return [
        template.format(
            process=name.format(rank=rank), pid=71 + rank, tokens=count, gib=0.25, ms=100.0 + rank
        )
        for rank, count in enumerate(tokens)
    ]


@pytest.mark.parametrize("name", ["Worker_TP{rank}", "Worker_PP0_TP{rank}", "Worker_PP{rank}_TP0"])
def test_each_rank_writes_its_lines_and_no_token_counts_twice(name: str) -> None:
    lines = [LOOKED_UP, *of_ranks(READ, 9984, 9984, name=name), *of_ranks(STORED, 2048, 2048, name=name)]
    lines += of_ranks(STORED, 1024, 1024, name=name)
    seen = collect(all_figures(lines))["a"]
    assert (seen.retrieved_tokens, seen.retrieve_gib, seen.retrieve_ms) == (9984, 0.5, 101.0)
    assert (seen.stored_tokens, seen.store_ms, seen.ranks) == (3072, 202.0, 2)
    found = judge(with_cached_tokens({"a": seen}, {"a": 9984})["a"], 9984, lmcache_on=True)
    assert (found.verdict, found.reused_tokens) == (Verdict.FULL, 9984)


def test_the_rank_that_read_the_least_decides() -> None:
    seen = collect(all_figures([LOOKED_UP, *of_ranks(READ, 9984, 512)]))["a"]
    found = judge(seen, 9984, lmcache_on=True)
    assert (found.verdict, found.reused_tokens) == (Verdict.PARTIAL, 512)


def test_one_process_that_reads_in_steps_adds_up() -> None:
    seen = collect(all_figures([LOOKED_UP, *of_ranks(READ, 9728), *of_ranks(READ, 256)]))["a"]
    assert (seen.retrieved_tokens, seen.ranks) == (9984, None)


def test_the_lines_of_all_ranks_are_waited_for() -> None:
    one = collect(all_figures([LOOKED_UP, *of_ranks(READ, 9984)]))["a"]
    both = collect(all_figures([LOOKED_UP, *of_ranks(READ, 9984, 9984)]))["a"]
    assert one.whole()
    assert not one.whole(2)
    assert both.whole(2)
    assert Evidence(hit_tokens=0).whole(2)


def test_a_request_without_a_line_still_has_what_the_client_was_told() -> None:
    assert with_cached_tokens({}, {"a": 0, "b": None}) == {
        "a": Evidence(cached_tokens=0),
        "b": Evidence(),
    }


@pytest.mark.parametrize(("name", "hits"), [("valkey-builtin", 6), ("valkey-lmcache-0.5.3", 10)])
def test_real_logs_give_the_hits_that_their_runs_had(name: str, hits: int) -> None:
    lines = (LOGS / f"{name}.log").read_text(encoding="utf-8", errors="replace").splitlines()
    verdicts = [
        judge(seen, seen.hit_tokens or 1, lmcache_on=True).verdict
        for seen in collect(all_figures(lines)).values()
    ]
    assert verdicts.count(Verdict.FULL) == hits


counts = st.none() | st.integers(0, 20_000)


@given(counts, counts, counts, st.booleans(), st.booleans(), st.integers(1, 20_000))
def test_a_verdict_never_claims_more_than_its_evidence(
    hit: int | None, retrieved: int | None, cached: int | None, recovered: bool, on: bool, reusable: int
) -> None:
    seen = Evidence(hit_tokens=hit, retrieved_tokens=retrieved, cached_tokens=cached, recovered=recovered)
    found = judge(seen, reusable, lmcache_on=on)
    if found.verdict in (Verdict.FULL, Verdict.PARTIAL):
        assert found.reused_tokens is not None
        assert 0 < found.reused_tokens <= reusable
        assert found.reused_tokens <= ((retrieved or 0) if on else (cached or 0))
    if found.verdict is Verdict.UNKNOWN:
        assert found.reused_tokens is None
    if found.verdict is Verdict.NONE:
        assert found.reused_tokens == 0
        assert not (on and retrieved)
