"""KV sizes, and what a tier of some capacity gives back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kvtui.errors import PlanError
from kvtui.fit import GIB, expected_reuse, staging_gib, working_set_bytes
from kvtui.kvsize import KvShape, kv_shape, load_config
from kvtui.plan import Tier, TierKind, Topology, load_plan
from kvtui.recordings import PLANS

QWEN_7B: dict[str, Any] = {
    "architectures": ["Qwen2ForCausalLM"],
    "hidden_size": 3584,
    "num_attention_heads": 28,
    "num_hidden_layers": 28,
    "num_key_value_heads": 4,
    "torch_dtype": "bfloat16",
    "use_sliding_window": False,
    "quantization_config": {"bits": 4, "quant_method": "awq"},
}
QWEN3_4B = {
    "architectures": ["Qwen3ForCausalLM"],
    "head_dim": 128,
    "hidden_size": 2560,
    "num_attention_heads": 32,
    "num_hidden_layers": 36,
    "num_key_value_heads": 8,
    "dtype": "bfloat16",
}
LLAMA_8B = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "torch_dtype": "bfloat16",
}


@pytest.mark.parametrize(("config", "size"), [(QWEN_7B, 57_344), (QWEN3_4B, 147_456), (LLAMA_8B, 131_072)])
def test_bytes_of_a_token(config: dict[str, Any], size: int) -> None:
    assert kv_shape(config, "config.json").bytes_per_token == size


def test_the_type_named_in_the_plan_wins() -> None:
    assert kv_shape(QWEN_7B, "config.json", "float32").bytes_per_token == 2 * 57_344


def test_without_grouped_heads_every_head_has_its_own_kv() -> None:
    config = {name: value for name, value in LLAMA_8B.items() if name != "num_key_value_heads"}
    assert kv_shape(config, "config.json").bytes_per_token == 4 * 131_072


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"architectures": ["DeepseekV3ForCausalLM"]}, "DeepseekV3ForCausalLM"),
        ({"architectures": []}, "None"),
        ({"architectures": "x"}, "None"),
        ({"kv_lora_rank": 512}, "latent"),
        ({"use_sliding_window": True}, "sliding-window"),
        ({"num_hidden_layers": "28"}, "num_hidden_layers"),
        ({"num_hidden_layers": True}, "num_hidden_layers"),
        ({"num_key_value_heads": None}, "num_key_value_heads"),
        ({"torch_dtype": "fp8"}, "fp8"),
        ({"torch_dtype": None}, "None"),
        ({"hidden_size": 0}, "hidden_size"),
    ],
)
def test_what_is_not_known_is_refused_by_name(change: dict[str, Any], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        kv_shape({**QWEN_7B, **change}, "config.json")


def test_a_config_that_is_none_is_said(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    with pytest.raises(PlanError, match="There is no file"):
        load_config(path)
    path.write_text("[1]")
    with pytest.raises(PlanError, match="no JSON object"):
        load_config(path)
    path.write_text("{")
    with pytest.raises(PlanError, match="cannot be read"):
        load_config(path)
    path.write_text(json.dumps(QWEN_7B))
    assert load_config(path) == QWEN_7B


def test_the_seed_plans_working_set_is_sixteen_gib() -> None:
    plan = load_plan(PLANS / "seed.toml")
    shape = kv_shape(QWEN_7B, "config.json")
    assert shape.document_bytes(10_000, 256) == 39 * 14_680_064
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
