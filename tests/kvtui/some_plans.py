"""Plans of every shape, for properties."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kvtui.errors import PlanError
from kvtui.plan import Order, Plan, Policy, TierKind, plan_of

TEXT = st.text(min_size=1, max_size=12)
NAMES = st.sampled_from(["a", "gpu-a", "gpu-b", "x9", "dram", "none"])
SEEDS = st.sampled_from(["unset", "0", "7", "4294967295", "random", ""])
ARGUMENTS = st.lists(
    st.one_of(
        TEXT,
        st.sampled_from(
            ["-tp", "2", "-tp=8", "--kv-cache-dtype=fp8", "--max-num-batched-tokens=64", "-pp=0"]
        ),
    ),
    max_size=4,
)


def _optional(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


@st.composite
def _tiers(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(TierKind))
    tier: dict[str, Any] = {"name": draw(NAMES), "kind": kind.value}
    if kind is not TierKind.NONE:
        tier["capacity_gib"] = draw(st.floats(1e-6, 2**20))
    if kind is TierKind.DISK:
        tier["path"] = draw(st.one_of(TEXT, st.sampled_from(["~/kv", "/mnt/kv", "~", "/"])))
    if kind in (TierKind.DRAM, TierKind.DISK):
        tier |= draw(_optional({"policy": st.sampled_from([policy.value for policy in Policy])}))
    if kind is TierKind.VALKEY:
        tier |= draw(_optional({"workers": st.integers(1, 256)}))
    return tier


_NEEDED: dict[str, st.SearchStrategy[Any]] = {
    "name": NAMES,
    "model": st.fixed_dictionaries(
        {"path": TEXT, "served_name": TEXT}, optional={"kv_bytes_per_token": st.integers(1, 2**30)}
    ),
    "corpus": st.fixed_dictionaries(
        {"documents": st.integers(1, 100_000), "tokens": st.integers(1, 20_000)},
        optional={
            "seed": st.integers(0, 2**63 - 1),
            "prefix_tokens": st.integers(0, 3_000),
        },
    ),
    "nodes": st.fixed_dictionaries(
        {
            name: st.fixed_dictionaries(
                {"ssh": TEXT}, optional={"hourly_price": st.floats(0, 100), "engine_python": TEXT}
            )
            for name in ("gpu-a", "gpu-b", "x9")
        }
    ),
    "store": st.fixed_dictionaries(
        {"node": st.sampled_from(["gpu-a", "x9"])},
        optional={"address": TEXT, "port": st.integers(1, 65535), "password_env": TEXT},
    ),
    "tiers": st.lists(_tiers(), min_size=1, max_size=5, unique_by=lambda tier: tier["name"]),
}
_OPTIONAL: dict[str, st.SearchStrategy[Any]] = {
    "lab": st.booleans(),
    "notes": st.lists(TEXT, max_size=2),
    "engine": _optional(
        {
            "dtype": TEXT,
            "max_model_len": st.integers(256, 60_000),
            "output_tokens": st.integers(1, 100),
            "extra_args": ARGUMENTS,
            "start_timeout_s": st.floats(1, 1e6),
            "lease_min": st.floats(1, 100),
        }
    ),
    "hash": _optional(
        {
            "algorithm": st.sampled_from(["builtin", "sha256", "sha256_cbor", "sha256_cbor_64bit", "xxhash"]),
            "seed": SEEDS,
            "seed_on": st.dictionaries(NAMES, SEEDS, max_size=2),
            "chunk_tokens": st.sampled_from([16, 64, 256, 8192]),
            "accept_differing": st.booleans(),
        }
    ),
    "passes": _optional(
        {
            "topologies": st.sampled_from([["single"], ["fleet"], ["single", "fleet"]]),
            "fleet_cold": st.sampled_from(["own", "shared"]),
            "order": st.sampled_from([order.value for order in Order]),
            "cold_order": st.sampled_from(["listed", "shuffled"]),
            "repeats": st.integers(1, 50),
            "shuffle_seed": st.integers(0, 2**63 - 1),
        }
    ),
}
DATA = st.fixed_dictionaries(_NEEDED, optional=_OPTIONAL)


def plan_from(data: dict[str, Any]) -> Plan | None:
    """The plan of generated data, or ``None`` where its parts do not fit together."""
    try:
        return plan_of(data, "generated")
    except PlanError:
        return None


PLANS = DATA.map(plan_from).filter(lambda plan: plan is not None)
