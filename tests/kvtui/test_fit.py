"""What a tier of some capacity gives back, and how much is enough."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvtui.fit import (
    GIB,
    ExpectedReuse,
    Reuse,
    Scan,
    capacity_bytes,
    expected_reuse,
    gate_passes,
    least_gib,
    pass_order,
    plan_reuse,
    plan_scan,
    predict,
    run_earlier,
    smallest_capacity_bytes,
    staging_gib,
    working_set_bytes,
)
from kvtui.fit.simulate import Disk, DiskByFrequency, Dram, Hits, run
from kvtui.kvsize import KvShape, kv_shape
from kvtui.plan import Order, Plan, Policy, Tier, TierKind, Topology, load_plan
from kvtui.recordings import PLANS
from tests.kvtui.models import DEEPSEEK_V3, LLAMA_8B, QWEN_7B
from tests.kvtui.plans import lab_plan

S, F = Topology.SINGLE, Topology.FLEET
LAB = KvShape(4, 4, 64, 4)
"""The lab's model: 8 KiB a token."""
LAB_SCAN = Scan(8, 2064, 256)
SEED = kv_shape(QWEN_7B, "config.json")
SEED_SCAN = Scan(30, 10_000, 256)
MIB = 1024**2


def tier(kind: TierKind, capacity_gib: float | None = None, policy: Policy = Policy.LRU) -> Tier:
    path = "/x" if kind is TierKind.DISK else None
    return Tier(name="t", kind=kind, capacity_gib=capacity_gib, path=path, policy=policy)


def of_bytes(kind: TierKind, size_bytes: int, policy: Policy = Policy.LRU) -> Tier:
    found = tier(kind, size_bytes / GIB, policy)
    assert capacity_bytes(size_bytes / GIB) == size_bytes
    return found


def in_dram(scan: Scan, blocks: int, policy: Policy = Policy.LRU) -> Hits:
    return run(Dram(blocks, policy), scan)


def reuse(kind: TierKind, capacity_gib: float, topology: Topology = S, scan: Scan = LAB_SCAN) -> str:
    return str(predict(tier(kind, capacity_gib), topology, scan, LAB)[0])


@pytest.mark.parametrize(
    ("kind", "capacity_gib", "topology", "found"),
    [
        (TierKind.DRAM, 0.125, S, "8/8"),
        (TierKind.DRAM, 0.12, S, "0/8"),
        (TierKind.DRAM, 0.0625, S, "0/8"),
        (TierKind.DRAM, 0.001, S, "0/8"),
        (TierKind.DRAM, 1, F, "0/8"),
        (TierKind.DISK, 0.125, S, "8/8"),
        (TierKind.DISK, 0.12, S, "0/8"),
        (TierKind.DISK, 1, F, "0/8"),
        (TierKind.VALKEY, 1, S, "8/8"),
        (TierKind.VALKEY, 1, F, "8/8"),
    ],
)
def test_the_lab_was_measured_so(kind: TierKind, capacity_gib: float, topology: Topology, found: str) -> None:
    assert reuse(kind, capacity_gib, topology) == found


@pytest.mark.parametrize(
    ("kind", "capacity_gib", "found"),
    [
        (TierKind.DRAM, 24, 30),
        (TierKind.DRAM, 8, 0),
        (TierKind.DISK, 24, 30),
        (TierKind.DISK, 15.9, 0),
        (TierKind.VALKEY, 48, 30),
    ],
)
def test_the_seed_plan_was_measured_so(kind: TierKind, capacity_gib: float, found: int) -> None:
    assert predict(tier(kind, capacity_gib), S, SEED_SCAN, SEED) == (Reuse(found, found, 30),)


def test_the_seed_plan_needs_sixteen_gib() -> None:
    plan = load_plan(PLANS / "seed.toml")
    needed = smallest_capacity_bytes(tier(TierKind.DRAM, 8), plan_scan(plan), SEED)
    assert needed == working_set_bytes(plan, SEED) == 30 * 39 * 14_680_064
    assert round(needed / GIB, 1) == 16.0


def test_the_plans_that_kvtui_brings() -> None:
    found = {}
    for plan, shape in ((lab_plan(), LAB), (load_plan(PLANS / "seed.toml"), SEED)):
        for each in plan.tiers:
            row = [str(plan_reuse(plan, each, topology, shape)) for topology in (S, F)]
            found[f"{plan.name} {each.name}"] = row
    assert found == {
        "lab none": ["0/8", "0/8"],
        "lab dram": ["8/8", "0/8"],
        "lab dram-small": ["0/8", "0/8"],
        "lab disk": ["8/8", "0/8"],
        "lab valkey": ["8/8", "8/8"],
        "seed dram": ["0/30", "0/30"],
        "seed disk": ["30/30", "0/30"],
        "seed valkey": ["30/30", "30/30"],
    }


def test_without_a_cache_nothing_comes_back() -> None:
    none = tier(TierKind.NONE)
    assert predict(none, S, LAB_SCAN, LAB) == (Reuse(0, 0, 8),)
    assert smallest_capacity_bytes(none, LAB_SCAN, LAB) == 0


def test_a_document_shorter_than_a_chunk_is_never_stored() -> None:
    for kind in (TierKind.DRAM, TierKind.DISK, TierKind.VALKEY):
        assert reuse(kind, 1, scan=Scan(8, 255, 256)) == "0/8"


def test_every_rank_has_a_tier_of_its_own() -> None:
    split = kv_shape(QWEN_7B, "config.json", tensor_parallel=2)
    assert predict(tier(TierKind.DRAM, 8.1), S, SEED_SCAN, split)[0].certain
    copied = kv_shape(LLAMA_8B, "config.json", tensor_parallel=16)
    one = smallest_capacity_bytes(tier(TierKind.DRAM, 1), SEED_SCAN, kv_shape(LLAMA_8B, "config.json"))
    assert smallest_capacity_bytes(tier(TierKind.DRAM, 1), SEED_SCAN, copied) == one // 8
    latent = kv_shape(DEEPSEEK_V3, "config.json", tensor_parallel=8)
    assert smallest_capacity_bytes(tier(TierKind.DISK, 1), SEED_SCAN, latent) == 30 * 39 * 17_989_632


def test_blocks_are_aligned_and_capacity_is_counted_in_whole_blocks() -> None:
    odd = KvShape(1, 1, 3, 2)  # 3,072 bytes a chunk, 4,096 in an allocator
    scan = Scan(10, 256, 256)
    assert smallest_capacity_bytes(tier(TierKind.DRAM, 1), scan, odd) == 40_960
    assert predict(of_bytes(TierKind.DRAM, 40_960 + 4095), S, scan, odd)[0].low == 10
    assert predict(of_bytes(TierKind.DRAM, 40_959), S, scan, odd)[0].high == 0


@pytest.mark.parametrize(
    ("policy", "order", "found"),
    [
        (Policy.LRU, Order.SAME, 0),
        (Policy.LRU, Order.REVERSED, 4),
        (Policy.FIFO, Order.SAME, 0),
        (Policy.FIFO, Order.REVERSED, 4),
        (Policy.MRU, Order.SAME, 4),
        (Policy.MRU, Order.REVERSED, 4),
        (Policy.LFU, Order.SAME, 0),
        (Policy.LFU, Order.REVERSED, 4),
    ],
)
def test_half_the_capacity_by_policy_and_order(policy: Policy, order: Order, found: int) -> None:
    scan = Scan(8, 2064, 256, order=order)
    assert predict(tier(TierKind.DRAM, 0.0625, policy), S, scan, LAB) == (Reuse(found, found, 8),)


def test_a_hit_makes_the_first_chunk_of_a_prompt_the_last_to_go_in_dram() -> None:
    scan = Scan(2, 1024, 256, order=Order.REVERSED)
    # Document 0 has three of its chunks, but not the first.
    assert in_dram(scan, 7) == ((0, 0), (0, 4))


def test_a_chunk_that_is_stored_again_on_disk_takes_room_that_never_comes_back() -> None:
    scan = Scan(5, 1024, 256, passes=40, order=Order.SHUFFLED, seed=3)
    on_disk = run(Disk(18, Policy.LRU), scan)
    assert sum(map(sum, on_disk)) < sum(map(sum, in_dram(scan, 18)))


def test_a_step_that_does_not_fit_stores_what_does() -> None:
    one_step = Scan(1, 1024, 256, passes=2, step_tokens=4096)
    assert in_dram(one_step, 3) == ((0,), (3,))
    two_steps = Scan(1, 1024, 256, passes=2, step_tokens=512)
    assert in_dram(two_steps, 3) == ((0,), (0,))


@pytest.mark.parametrize(
    ("have", "step_tokens", "batches"),
    [
        (0, 4096, [range(8)]),
        (0, 1024, [range(4), range(4, 8)]),
        (0, 600, [range(2), range(2, 4), range(4, 7), range(7, 8)]),
        (3, 1024, [range(3, 7), range(7, 8)]),
        (8, 1024, []),
    ],
)
def test_steps_store_the_chunks_that_are_whole(have: int, step_tokens: int, batches: list[range]) -> None:
    assert list(Scan(1, 2064, 256, step_tokens=step_tokens).batches(have)) == batches


def test_orders_are_those_of_their_seed() -> None:
    assert pass_order(Scan(4, 1, 1, order=Order.REVERSED), 0) == (0, 1, 2, 3)
    assert pass_order(Scan(4, 1, 1, order=Order.REVERSED), 2) == (3, 2, 1, 0)
    shuffled = [pass_order(Scan(40, 1, 1, order=Order.SHUFFLED, seed=seed), 1) for seed in (1, 1, 2)]
    assert shuffled[0] == shuffled[1] != shuffled[2]
    assert sorted(shuffled[2]) == list(range(40))
    again = Scan(40, 1, 1, order=Order.SHUFFLED, seed=1)
    assert pass_order(again, 1) != pass_order(again, 2)


def test_what_a_gate_left_behind_stays_with_lfu_and_mru() -> None:
    scan = Scan(8, 2064, 256, earlier=run_earlier(gated=True))
    sizes = {
        policy: smallest_capacity_bytes(tier(TierKind.DRAM, 1, policy), scan, LAB) // (16 * MIB)
        for policy in Policy
    }
    assert sizes == {Policy.LRU: 8, Policy.FIFO: 8, Policy.LFU: 10, Policy.MRU: 12}


SCANS = st.builds(
    Scan,
    documents=st.integers(1, 7),
    tokens=st.integers(256, 1300),
    chunk_tokens=st.sampled_from([256, 64]),
    passes=st.integers(2, 3),
    order=st.sampled_from(Order),
    seed=st.integers(0, 99),
    step_tokens=st.sampled_from([64, 256, 600, 2048]),
    earlier=st.sampled_from([(), run_earlier(gated=False), run_earlier(gated=True), ("x", "x", "y")]),
    prefix_tokens=st.sampled_from([0, 0, 63, 64, 256, 700]),
)
KINDS = st.sampled_from([TierKind.DRAM, TierKind.DISK])
SMALL = KvShape(1, 1, 8, 1)


@settings(deadline=None)
@given(SCANS, KINDS, st.sampled_from(Policy), st.integers(0, 200))
def test_never_more_than_fit_at_once_and_never_more_than_all(
    scan: Scan, kind: TierKind, policy: Policy, blocks: int
) -> None:
    for found in predict(of_bytes(kind, max(1, blocks * 4096), policy), S, scan, SMALL):
        assert 0 <= found.low <= found.high <= scan.fitting(blocks)
    hits = in_dram(scan, blocks, policy)
    assert all(0 <= found <= scan.chunks for row in hits for found in row)
    assert hits[0][0] == 0
    assert all(found <= scan.shared_chunks for found in hits[0])


@settings(deadline=None)
@given(SCANS, KINDS, st.sampled_from(Policy))
def test_the_smallest_capacity_keeps_all_and_a_chunk_less_does_not(
    scan: Scan, kind: TierKind, policy: Policy
) -> None:
    needed = smallest_capacity_bytes(tier(kind, 1, policy), scan, SMALL)
    enough = predict(of_bytes(kind, needed, policy), S, scan, SMALL)
    assert all(found.certain for found in enough)
    lone = scan.documents == 1 or scan.shared_chunks > 0
    if policy in (Policy.LFU, Policy.MRU) and (kind is TierKind.DISK or lone):
        return  # nobody can tell, or the document may push out what came before it
    less = predict(of_bytes(kind, max(1, needed - 4096), policy), S, scan, SMALL)
    assert less[0].high < scan.documents


@settings(deadline=None)
@given(SCANS, KINDS)
def test_more_capacity_never_gives_less_with_lru(scan: Scan, kind: TierKind) -> None:
    # True for LRU alone: FIFO has Belady's anomaly, and LFU and MRU keep more of what came before.
    counts = []
    for blocks in range((scan.documents + 4) * scan.chunks + 1):
        hits = run(Dram(blocks, Policy.LRU) if kind is TierKind.DRAM else Disk(blocks, Policy.LRU), scan)
        counts.append([sum(found == scan.chunks for found in row) for row in hits])
    for small, large in pairwise(counts):
        assert all(one <= other for one, other in zip(small, large, strict=True))


def test_files_that_are_written_out_of_order_make_an_interval_where_a_chunk_is_missing() -> None:
    scan = Scan(3, 2048, 256, passes=4, step_tokens=512, earlier=("a", "b"))
    one_short = predict(of_bytes(TierKind.DISK, 23 * 4096, Policy.FIFO), S, scan, SMALL)
    assert any(found.low < found.high for found in one_short)
    assert all(
        found.certain for found in predict(of_bytes(TierKind.DISK, 24 * 4096, Policy.FIFO), S, scan, SMALL)
    )


def test_mru_on_disk_races_with_its_own_writes() -> None:
    half, whole = tier(TierKind.DISK, 0.0625, Policy.MRU), tier(TierKind.DISK, 0.125, Policy.MRU)
    assert predict(half, S, LAB_SCAN, LAB) == (Reuse(0, 4, 8),)
    assert predict(whole, S, LAB_SCAN, LAB) == (Reuse(8, 8, 8),)


def test_lfu_on_disk_is_exact_until_it_reaches_for_what_it_writes() -> None:
    half, whole = tier(TierKind.DISK, 0.0625, Policy.LFU), tier(TierKind.DISK, 0.125, Policy.LFU)
    assert predict(half, S, LAB_SCAN, LAB) == (Reuse(0, 0, 8),)
    assert predict(whole, S, LAB_SCAN, LAB) == (Reuse(8, 8, 8),)
    # Backwards, all that is there has been used, so a new document is the least used itself.
    reversed_ = replace(LAB_SCAN, order=Order.REVERSED)
    assert predict(half, S, reversed_, LAB) == (Reuse(0, 4, 8),)


class RacingLfu:
    """LFU on disk as LMCache does it: ranked when a write is ordered, there when it is done, in any order."""

    def __init__(self, blocks: int, seed: int) -> None:
        self._room = blocks
        self._chance = random.Random(seed)  # noqa: S311 - an order, not a secret
        self._written: set[int] = set()
        self._under_way: list[int] = []
        self._uses: dict[int, int] = {}  # in the order of their last change

    def _rank(self, chunk: int, uses: int) -> None:
        self._uses.pop(chunk, None)
        self._uses[chunk] = uses

    def find(self, chunks: Sequence[int]) -> int:
        self._written.update(self._under_way)
        self._under_way = []
        found = list(takewhile(self._written.__contains__, chunks))
        for chunk in (*reversed(found), *found):
            self._rank(chunk, self._uses[chunk] + 1)
        return len(found)

    def store(self, batch: Sequence[int]) -> None:
        for chunk in batch:
            while len(self._uses) >= self._room:
                victim = min(self._uses, key=lambda one: self._uses[one])
                del self._uses[victim]
                self._written.remove(victim)  # KeyError, as in LMCache, where its file is not there yet
            self._rank(chunk, 1)
            self._under_way.append(chunk)
            if self._chance.random() < 0.5:
                self._written.add(self._under_way.pop(self._chance.randrange(len(self._under_way))))


@settings(deadline=None)
@given(SCANS, st.integers(0, 40), st.integers(0, 99))
def test_where_lfu_on_disk_is_exact_no_order_of_writing_changes_it(
    scan: Scan, blocks: int, seed: int
) -> None:
    by_frequency = DiskByFrequency(blocks)
    hits = run(by_frequency, scan)
    if not by_frequency.open:
        assert hits == run(RacingLfu(blocks, seed), scan)


@settings(deadline=None)
@given(SCANS, KINDS, st.sampled_from([Policy.LRU, Policy.FIFO]), st.integers(0, 150), st.integers(0, 99))
def test_documents_that_go_in_a_circle_are_never_found_where_one_is_missing(
    scan: Scan, kind: TierKind, policy: Policy, blocks: int, mixed: int
) -> None:
    circle = replace(scan, order=Order.SAME, passes=2, prefix_tokens=0)
    missing = scan.documents * scan.chunks - blocks
    if missing >= (1 if kind is TierKind.DRAM else scan.chunks):
        backend = Dram(blocks, policy) if kind is TierKind.DRAM else Disk(blocks, policy, mixed)
        assert scan.chunks not in run(backend, circle)[1]
        assert predict(of_bytes(kind, max(1, blocks * 4096), policy), S, circle, SMALL)[0].high == 0


def test_a_working_set_too_large_to_play_through_gives_an_interval() -> None:
    scan = Scan(5_000, 2064, 256)
    half = 5_000 * 16 * MIB // 2
    assert predict(of_bytes(TierKind.DRAM, half), S, scan, LAB) == (Reuse(0, 0, 5_000),)
    mixed = replace(scan, order=Order.SHUFFLED)
    assert predict(of_bytes(TierKind.DRAM, half), S, mixed, LAB) == (Reuse(0, 2_500, 5_000),)
    assert predict(of_bytes(TierKind.DISK, half), S, mixed, LAB) == (Reuse(0, 2_500, 5_000),)
    assert predict(of_bytes(TierKind.DRAM, 2 * half), S, mixed, LAB)[0].certain


def test_a_chunk_that_found_no_room_on_disk_is_never_taken_again() -> None:
    scan = Scan(1, 1024, 256, passes=4, step_tokens=4096)
    assert run(Disk(3, Policy.LRU), scan) == ((0,), (3,), (3,), (3,))
    assert in_dram(scan, 3) == ((0,), (3,), (2,), (1,))


@settings(deadline=None)
@given(
    SCANS,
    st.integers(1, 600),
    st.sampled_from(["noeviction", "volatile-lru", "allkeys-lru", "allkeys-random"]),
)
def test_a_server_gives_an_interval(scan: Scan, mib: int, store_policy: str) -> None:
    shape = KvShape(4, 4, 64, 4, ranks=2)
    valkey = of_bytes(TierKind.VALKEY, mib * MIB)
    found = predict(valkey, F, scan, shape, store_policy=store_policy)[-1]
    assert 0 <= found.low <= found.high <= found.of
    assert found.refused == (not found.certain and not store_policy.startswith("allkeys"))
    if found.high < found.of:
        kept = scan.shared_chunks + found.high * (scan.chunks - scan.shared_chunks) if found.high else 0
        assert kept * scan.chunk_tokens * shape.bytes_per_token <= mib * MIB
    enough = of_bytes(TierKind.VALKEY, smallest_capacity_bytes(valkey, scan, shape))
    assert predict(enough, F, scan, shape, store_policy=store_policy)[-1].certain


def test_a_server_that_is_too_small_refuses_or_forgets() -> None:
    scan, half = Scan(80, 2064, 256), tier(TierKind.VALKEY, 0.625)
    assert predict(half, F, scan, LAB) == (Reuse(30, 40, 80, refused=True),)
    assert predict(half, F, scan, LAB, store_policy="volatile-lru") == (Reuse(30, 40, 80, refused=True),)
    assert predict(half, F, scan, LAB, store_policy="allkeys-lru") == (Reuse(0, 40, 80),)
    assert str(predict(half, F, scan, LAB)[0]) == "30–40/80"


def with_prefix(prefix_tokens: int, **more: int) -> Plan:
    plan = lab_plan()
    return plan.model_copy(
        update={"corpus": plan.corpus.model_copy(update={"prefix_tokens": prefix_tokens, **more})}
    )


def test_a_shared_prefix_is_stored_once_and_found_in_the_cold_pass() -> None:
    scan = Scan(8, 2064 + 600, 256, prefix_tokens=600)
    assert (scan.chunks, scan.shared_chunks, scan.working_chunks) == (10, 2, 2 + 8 * 8)
    assert in_dram(scan, 66) == ((0, *[2] * 7), (10,) * 8)
    # A chunk less, and documents go; the prefix, in use all the time, stays.
    assert in_dram(scan, 65) == ((0, *[2] * 7), (2,) * 8)
    for kind in (TierKind.DRAM, TierKind.DISK):
        assert smallest_capacity_bytes(tier(kind, 1), scan, LAB) == 66 * 256 * LAB.bytes_per_token


def test_the_expected_reuse_of_a_plan_with_a_prefix() -> None:
    plan = with_prefix(600)
    expected = expected_reuse(plan)
    assert expected == ExpectedReuse(8, 2664, 512, 2560)
    assert expected.cold_share == pytest.approx(7 * 512 / (8 * 2664))
    assert working_set_bytes(plan, LAB) == 66 * 256 * LAB.bytes_per_token
    assert str(plan_reuse(plan, tier(TierKind.DRAM, 66 / 512), S, LAB)) == "8/8"
    assert str(plan_reuse(plan, tier(TierKind.DRAM, 65 / 512), S, LAB)) == "0/8"


def test_without_a_prefix_no_cold_request_finds_anything() -> None:
    expected = expected_reuse(lab_plan())
    assert (expected.shared_tokens, expected.cold_share, expected.cached_tokens) == (0, 0, 2048)
    # The last token is always computed.
    assert expected_reuse(with_prefix(0, tokens=2048)).cached_tokens == 2047


@given(st.integers(0, 4000), st.integers(1, 9), st.integers(256, 4000))
def test_the_expected_reuse_is_what_a_tier_that_keeps_everything_gives(
    prefix: int, documents: int, tokens: int
) -> None:
    plan = with_prefix(prefix, documents=documents, tokens=tokens)
    scan, expected = plan_scan(plan), expected_reuse(plan)
    cold, cached = in_dram(scan, scan.working_chunks + 4 * scan.chunks)
    # The request that is sent first finds nothing, whichever document it is.
    assert sorted(found * 256 for found in cold) == [0, *[expected.shared_tokens] * (documents - 1)]
    assert {min(found * 256, plan.corpus.prompt_tokens - 1) for found in cached} == {expected.cached_tokens}


@given(st.integers(0, 2**45))
def test_a_capacity_in_gib_holds_what_it_was_made_for(size_bytes: int) -> None:
    assert size_bytes <= capacity_bytes(least_gib(size_bytes)) <= size_bytes + GIB // 10_000 + 1


def test_the_gate_asks_only_where_two_documents_surely_come_back() -> None:
    plan = lab_plan()
    assert gate_passes(plan, tier(TierKind.DRAM, 0.0625), S, LAB)
    assert not gate_passes(plan, tier(TierKind.DRAM, 0.03), S, LAB)
    assert not gate_passes(plan, tier(TierKind.VALKEY, 0.03), S, LAB)


def test_the_buffer_beside_a_slower_tier_holds_four_requests() -> None:
    request_bytes = 10_000 * 57_344
    assert staging_gib(tier(TierKind.VALKEY, 48), request_bytes) * GIB >= 3.9 * request_bytes
    assert staging_gib(tier(TierKind.DRAM, 8), request_bytes) == 8
    assert staging_gib(tier(TierKind.DISK, 8), 1) == 0.25
