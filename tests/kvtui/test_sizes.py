"""What a tier of some capacity gives back."""

from __future__ import annotations

import pytest

from kvtui.fit import GIB, expected_reuse, staging_gib, working_set_bytes
from kvtui.kvsize import KvShape, kv_shape
from kvtui.plan import Tier, TierKind, Topology, load_plan
from kvtui.recordings import PLANS
from tests.kvtui.models import QWEN_7B


def test_the_seed_plans_working_set_is_sixteen_gib() -> None:
    plan = load_plan(PLANS / "seed.toml")
    shape = kv_shape(QWEN_7B, "config.json")
    assert working_set_bytes(plan, shape) == 30 * 39 * 14_680_064


def _tier(kind: TierKind, capacity_gib: float) -> Tier:
    return Tier(name="t", kind=kind, capacity_gib=capacity_gib, path="/x" if kind is TierKind.DISK else None)


@pytest.mark.parametrize(
    ("kind", "capacity_gib", "topology", "reuse"),
    [
        (TierKind.DRAM, 0.125, Topology.SINGLE, 8),
        (TierKind.DRAM, 0.12, Topology.SINGLE, 0),
        (TierKind.DRAM, 0.0625, Topology.SINGLE, 0),
        (TierKind.DRAM, 1, Topology.FLEET, 0),
        (TierKind.DISK, 1, Topology.SINGLE, 8),
        (TierKind.DISK, 1, Topology.FLEET, 0),
        (TierKind.VALKEY, 1, Topology.FLEET, 8),
    ],
)
def test_a_tier_that_is_too_small_for_a_cyclic_scan_gives_nothing(
    kind: TierKind, capacity_gib: float, topology: Topology, reuse: int
) -> None:
    document_bytes = KvShape(4, 4, 64, 4).document_bytes(2064, 256)
    assert expected_reuse(_tier(kind, capacity_gib), topology, 8, document_bytes) == reuse


def test_no_cache_gives_nothing_back() -> None:
    assert expected_reuse(Tier(name="none", kind=TierKind.NONE), Topology.SINGLE, 8, 1) == 0


def test_the_buffer_beside_a_slow_tier_holds_several_of_the_longest_requests() -> None:
    request_bytes = 57_344 * 10_000
    assert staging_gib(_tier(TierKind.VALKEY, 48), request_bytes) * GIB >= 3.9 * request_bytes
    assert staging_gib(_tier(TierKind.DRAM, 8), request_bytes) == 8
    assert staging_gib(_tier(TierKind.DISK, 8), 1) == 0.25
