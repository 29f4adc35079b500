"""KV sizes of models, as LMCache stores them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from kvtui.cli import app
from kvtui.engine_options import kv_cache_dtype, step_tokens, tensor_parallel
from kvtui.errors import PlanError
from kvtui.kvsize import KvShape, kv_shape, load_config
from tests.kvtui.models import (
    DEEPSEEK_V3,
    GEMMA3_27B,
    GPT_OSS_20B,
    LLAMA_8B,
    QWEN3_4B,
    QWEN_7B,
    SIZES,
    Config,
)


def without(config: Config, *names: str) -> Config:
    return {name: value for name, value in config.items() if name not in names}


@pytest.mark.parametrize(("config", "size", "fp8"), [row[1:] for row in SIZES], ids=[row[0] for row in SIZES])
def test_bytes_of_a_token(config: Config, size: int, fp8: int) -> None:
    assert kv_shape(config, "config.json").bytes_per_token == size
    assert kv_shape(config, "config.json", kv_cache_dtype="fp8").bytes_per_token == fp8
    assert kv_shape(config, "config.json", "float32").bytes_per_token == 2 * size


def test_a_chunk_and_a_document() -> None:
    qwen = kv_shape(QWEN_7B, "config.json")
    assert qwen.chunk_bytes(256) == 14_680_064
    assert qwen.document_bytes(10_000, 256) == 39 * 14_680_064
    assert kv_shape(DEEPSEEK_V3, "config.json").chunk_bytes(256) == 17_989_632
    assert kv_shape(GPT_OSS_20B, "config.json").bytes_per_token * 10_000 == 491_520_000


@pytest.mark.parametrize(
    ("config", "ranks", "rank_size", "size"),
    [
        (QWEN_7B, 2, 28_672, 57_344),
        (QWEN_7B, 4, 14_336, 57_344),
        ({**QWEN_7B, "num_attention_heads": 32}, 8, 14_336 * 7 // 8, 2 * 57_344 * 7 // 8),
        (LLAMA_8B, 16, 16_384, 262_144),
        (DEEPSEEK_V3, 8, 70_272, 70_272),
    ],
)
def test_ranks_split_heads_copy_heads_or_leave_them_to_the_first(
    config: Config, ranks: int, rank_size: int, size: int
) -> None:
    shape = kv_shape(config, "config.json", tensor_parallel=ranks)
    assert (shape.rank_bytes_per_token, shape.bytes_per_token) == (rank_size, size)
    assert shape.replicated == (size > kv_shape(config, "config.json").bytes_per_token)


@given(st.sampled_from([row[1] for row in SIZES]), st.sampled_from([1, 2, 4, 8, 16]))
def test_more_ranks_never_store_less(config: Config, ranks: int) -> None:
    whole = kv_shape(config, "config.json").bytes_per_token
    try:
        shape = kv_shape(config, "config.json", tensor_parallel=ranks)
    except PlanError:
        return
    assert whole <= shape.bytes_per_token <= whole * ranks
    assert shape.bytes_per_token == shape.storing_ranks * shape.rank_bytes_per_token


def test_without_grouped_heads_every_head_has_its_own_kv() -> None:
    assert kv_shape(without(LLAMA_8B, "num_key_value_heads"), "x").bytes_per_token == 4 * 131_072


def test_a_head_size_that_is_not_named_is_the_classs_own() -> None:
    assert kv_shape(without(QWEN3_4B, "head_dim"), "x").bytes_per_token == 147_456
    assert kv_shape({**QWEN3_4B, "head_dim": None}, "x").bytes_per_token == 92_160
    assert kv_shape({**LLAMA_8B, "head_dim": None}, "x").bytes_per_token == 131_072


@pytest.mark.parametrize(
    ("named", "size"),
    [
        ({"torch_dtype": "float16"}, 57_344),
        ({"torch_dtype": "torch.bfloat16"}, 57_344),
        ({"torch_dtype": "float32"}, 57_344),
        ({"torch_dtype": None, "dtype": "bfloat16"}, 57_344),
        ({"quantization_config": {"quant_method": "modelopt", "kv_cache_quant_algo": "FP8"}}, 28_672),
        ({"quantization_config": {"quantization": {"kv_cache_quant_algo": "FP8"}}}, 28_672),
        ({"quantization_config": {"quantization": {"quant_algo": "FP8"}}}, 57_344),
        ({"quantization_config": {"quant_method": "compressed-tensors", "kv_cache_scheme": None}}, 57_344),
    ],
)
def test_the_type_that_a_config_names(named: Config, size: int) -> None:
    assert kv_shape({**QWEN_7B, **named}, "config.json").bytes_per_token == size


def test_the_type_of_a_nested_text_model() -> None:
    nested = {
        **without(GEMMA3_27B, "torch_dtype"),
        "text_config": {**GEMMA3_27B["text_config"], "dtype": "half"},
    }
    assert kv_shape(nested, "config.json").bytes_per_token == 507_904


def test_older_configs_of_a_wrapper_have_no_text_config() -> None:
    config = {**QWEN_7B, "architectures": ["Qwen2_5_VLForConditionalGeneration"]}
    assert kv_shape(config, "config.json").bytes_per_token == 57_344


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"architectures": ["NobodyKnowsForCausalLM"]}, "architecture NobodyKnowsForCausalLM is not known"),
        ({"architectures": ["DeepseekV32ForCausalLM"]}, "DeepseekV32ForCausalLM"),
        ({"architectures": ["Gemma3nForCausalLM"]}, "Gemma3nForCausalLM"),
        ({"architectures": []}, "architectures names no"),
        ({"architectures": "x"}, "architectures names no"),
        ({"architectures": [3]}, "architectures names no"),
        ({"architectures": ["NemotronHForCausalLM"]}, "NemotronHForCausalLM has state-space layers"),
        ({"architectures": ["Qwen3NextForCausalLM"]}, "Qwen3NextForCausalLM has state-space layers"),
        ({"architectures": ["Gemma3ForConditionalGeneration"], "num_hidden_layers": None}, "text_config"),
        ({"layer_types": ["full_attention", "linear_attention"]}, "linear_attention"),
        ({"layer_types": [["x"]]}, "layers is not known"),
        ({"kv_lora_rank": 512}, "latent"),
        ({"num_hidden_layers": "28"}, "num_hidden_layers is '28'"),
        ({"num_hidden_layers": True}, "num_hidden_layers is True"),
        ({"num_hidden_layers": None}, "num_hidden_layers is missing"),
        ({"num_attention_heads": -1}, "num_attention_heads is -1"),
        ({"num_key_value_heads": None}, "num_key_value_heads is missing"),
        ({"head_dim": 12.5}, "head_dim is 12.5"),
        ({"hidden_size": 0}, "hidden_size"),
        ({"hidden_size": 4}, "hidden_size 4 is less"),
        ({"torch_dtype": "fp8"}, "fp8"),
        ({"torch_dtype": None}, "None"),
        ({"torch_dtype": ["bfloat16"]}, "bfloat16"),
        (
            {"quantization_config": {"quant_method": "x", "kv_cache_scheme": {"num_bits": 8}}},
            "quantises its KV",
        ),
        ({"quantization_config": {"kv_cache_quant_algo": "NVFP4"}}, "quantises its KV"),
    ],
)
def test_what_is_not_known_is_refused_by_name(change: dict[str, Any], said: str) -> None:
    with pytest.raises(PlanError, match=said) as caught:
        kv_shape({**QWEN_7B, **change}, "config.json")
    assert str(caught.value).startswith("config.json: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("cache", ["fp8_ds_mla", "nvfp4", "int8_per_token_head", "turboquant_k8v4", "x"])
def test_packed_kv_types_are_refused(cache: str) -> None:
    with pytest.raises(PlanError, match=cache):
        kv_shape(DEEPSEEK_V3, "config.json", kv_cache_dtype=cache)


@pytest.mark.parametrize(
    ("config", "ranks", "said"),
    [
        (QWEN_7B, 8, "28 attention heads cannot be split over 8"),
        (QWEN_7B, 0, "over 0 ranks"),
        (QWEN_7B, 7, "4 KV heads can be neither split nor copied over 7"),
    ],
)
def test_ranks_that_do_not_divide_the_heads_are_refused(config: Config, ranks: int, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        kv_shape(config, "config.json", tensor_parallel=ranks)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 5000)
    | st.floats()
    | st.sampled_from(["auto", "bfloat16", "x"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(sorted(QWEN_7B)), inner),
    max_leaves=4,
)


@given(
    st.sampled_from([row[1] for row in SIZES]),
    st.dictionaries(
        st.sampled_from(sorted({*QWEN_7B, *DEEPSEEK_V3, *GEMMA3_27B, "head_dim", "dtype", "layer_types"})),
        JSON,
    ),
    st.integers(-1, 9),
)
def test_any_config_has_a_size_or_a_sentence(config: Config, change: Config, ranks: int) -> None:
    refusal, shape = "", None
    try:
        shape = kv_shape({**config, **change}, "config.json", tensor_parallel=ranks)
    except PlanError as error:
        refusal = str(error)
    assert refusal.startswith("config.json: ") if shape is None else shape.rank_bytes_per_token > 0


def test_a_shape_is_rebuilt_from_its_fields() -> None:
    assert KvShape(28, 4, 128, 2) == kv_shape(QWEN_7B, "config.json")


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
    path.write_bytes(b"\xff\xfe{")
    with pytest.raises(PlanError, match="cannot be read"):
        load_config(path)
    with pytest.raises(PlanError, match="cannot be read"):
        load_config(tmp_path)
    path.write_bytes(b"GGUF\x03\x00\x00\x00")
    with pytest.raises(PlanError, match="is a GGUF"):
        load_config(path)
    path.write_text(json.dumps(QWEN_7B))
    assert load_config(path) == QWEN_7B


def _size(tmp_path: Path, config: Config, *options: str) -> str:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    ended = CliRunner().invoke(app, ["size", str(path), *options])
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def test_the_command_says_what_a_rank_stores_where_it_differs(tmp_path: Path) -> None:
    assert _size(tmp_path, QWEN_7B).splitlines() == [
        "57,344 bytes a token",
        "14,680,064 bytes a chunk of 256 tokens (14 MiB)",
    ]
    split = _size(tmp_path, QWEN_7B, "--tp", "2", "--kv-cache-dtype", "fp8").splitlines()
    assert split == [
        "28,672 bytes a token",
        "7,340,032 bytes a chunk of 256 tokens (7 MiB)",
        "14,336 bytes a token and 3,670,016 a chunk on each of 2 ranks",
    ]
    assert _size(tmp_path, LLAMA_8B, "--tp", "16").splitlines()[-1].endswith("each is stored 2 times.")
    assert "the first alone stores it" in _size(tmp_path, DEEPSEEK_V3, "--tp", "8")


def test_the_command_prints_json(tmp_path: Path) -> None:
    sizes = json.loads(_size(tmp_path, LLAMA_8B, "--tp", "16", "--json"))
    assert sizes == {
        "bytes_per_token": 262_144,
        "chunk_tokens": 256,
        "bytes_per_chunk": 67_108_864,
        "ranks": 16,
        "storing_ranks": 16,
        "rank_bytes_per_token": 16_384,
        "rank_bytes_per_chunk": 4_194_304,
        "replicated": True,
    }


def test_the_engines_arguments_tell_ranks_and_kv_type() -> None:
    arguments = ["--enforce-eager", "-tp", "2", "--kv_cache_dtype=fp8", "--max-num-batched-tokens", "8192"]
    assert (tensor_parallel(arguments), kv_cache_dtype(arguments), step_tokens(arguments)) == (2, "fp8", 8192)
    assert (tensor_parallel([]), kv_cache_dtype([]), step_tokens([])) == (1, "auto", 2048)
    assert tensor_parallel(["--tensor-parallel-size=2", "--tensor_parallel_size", "4"]) == 4
    for wrong in (["-tp"], ["-tp", "x"], ["-tp=0"]):
        with pytest.raises(PlanError, match="-size is"):
            tensor_parallel(wrong)
