"""Configs of models, with the fields that decide their KV size."""

from __future__ import annotations

from typing import Any

Config = dict[str, Any]


def grouped(
    architecture: str, layers: int, heads: int, kv_heads: int, hidden: int, head_dim: int | None = None
) -> Config:
    """A model with grouped-query attention in bfloat16."""
    config: Config = {
        "architectures": [architecture],
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "num_hidden_layers": layers,
        "num_key_value_heads": kv_heads,
        "torch_dtype": "bfloat16",
    }
    return config if head_dim is None else {**config, "head_dim": head_dim}


QWEN2 = "Qwen2ForCausalLM"
QWEN3 = "Qwen3ForCausalLM"
LLAMA = "LlamaForCausalLM"

QWEN_7B: Config = {
    **grouped(QWEN2, 28, 28, 4, 3584),
    "use_sliding_window": False,
    "sliding_window": 131072,
    "max_window_layers": 28,
}
QWEN_7B_AWQ: Config = {**QWEN_7B, "quantization_config": {"bits": 4, "quant_method": "awq"}}
LLAMA_8B = grouped(LLAMA, 32, 32, 8, 4096)
QWEN3_4B = grouped(QWEN3, 36, 32, 8, 2560, 128)
DEEPSEEK_V3: Config = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "hidden_size": 7168,
    "kv_lora_rank": 512,
    "num_attention_heads": 128,
    "num_hidden_layers": 61,
    "num_key_value_heads": 128,
    "num_nextn_predict_layers": 1,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "quantization_config": {"quant_method": "fp8", "fmt": "e4m3"},
    "torch_dtype": "bfloat16",
}
GPT_OSS_20B: Config = {
    **grouped("GptOssForCausalLM", 24, 64, 8, 2880, 64),
    "layer_types": ["sliding_attention", "full_attention"] * 12,
    "sliding_window": 128,
    "quantization_config": {"quant_method": "mxfp4"},
}
GEMMA3_27B: Config = {
    "architectures": ["Gemma3ForConditionalGeneration"],
    "text_config": {
        "head_dim": 128,
        "hidden_size": 5376,
        "num_attention_heads": 32,
        "num_hidden_layers": 62,
        "num_key_value_heads": 16,
        "sliding_window": 1024,
    },
    "torch_dtype": "bfloat16",
    "vision_config": {"num_hidden_layers": 27, "num_attention_heads": 16, "hidden_size": 1152},
}

# Model, bytes a token in bf16, bytes a token with fp8 KV.
SIZES: tuple[tuple[str, Config, int, int], ...] = (
    ("Qwen2.5-7B", QWEN_7B, 57_344, 28_672),
    ("Qwen2.5-7B-AWQ", QWEN_7B_AWQ, 57_344, 28_672),
    ("Qwen2.5-0.5B", grouped(QWEN2, 24, 14, 2, 896), 12_288, 6_144),
    ("Qwen2.5-1.5B", grouped(QWEN2, 28, 12, 2, 1536), 28_672, 14_336),
    ("Qwen2.5-14B", grouped(QWEN2, 48, 40, 8, 5120), 196_608, 98_304),
    ("Qwen2.5-32B", grouped(QWEN2, 64, 40, 8, 5120), 262_144, 131_072),
    ("Llama-3.2-3B", grouped(LLAMA, 28, 24, 8, 3072, 128), 114_688, 57_344),
    ("Llama-3.1-8B", LLAMA_8B, 131_072, 65_536),
    ("Llama-3.1-70B", grouped(LLAMA, 80, 64, 8, 8192), 327_680, 163_840),
    (
        "Mistral-7B-v0.1",
        {**grouped("MistralForCausalLM", 32, 32, 8, 4096), "sliding_window": 4096},
        131_072,
        65_536,
    ),
    ("Qwen3-0.6B", grouped(QWEN3, 28, 16, 8, 1024, 128), 114_688, 57_344),
    ("Qwen3-4B", QWEN3_4B, 147_456, 73_728),
    ("Qwen3-8B", grouped(QWEN3, 36, 32, 8, 4096, 128), 147_456, 73_728),
    ("Qwen3-14B", grouped(QWEN3, 40, 40, 8, 5120, 128), 163_840, 81_920),
    ("Qwen3-32B", grouped(QWEN3, 64, 64, 8, 5120, 128), 262_144, 131_072),
    ("DeepSeek-V3", DEEPSEEK_V3, 70_272, 35_136),
    ("Gemma-2-9B", grouped("Gemma2ForCausalLM", 42, 16, 8, 3584, 256), 344_064, 172_032),
    ("Gemma-2-27B", grouped("Gemma2ForCausalLM", 46, 32, 16, 4608, 128), 376_832, 188_416),
    ("Gemma-3-27B", GEMMA3_27B, 507_904, 253_952),
    ("gpt-oss-20b", GPT_OSS_20B, 49_152, 24_576),
    ("gpt-oss-120b", grouped("GptOssForCausalLM", 36, 64, 8, 2880, 64), 73_728, 36_864),
)
