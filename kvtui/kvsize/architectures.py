"""The architectures whose KV kvtui knows, and the kinds that LMCache's connector cannot store."""

from __future__ import annotations

# Grouped-query attention with the same shape in every layer. The number is the head size that the model's
# class takes where config.json names none, and None stands for hidden_size // num_attention_heads
# (transformers 5.24.0, one configuration class a model; vLLM 0.28.0
# ``transformers_utils/model_arch_config_convertor.py``).
GROUPED: dict[str, int | None] = {
    "ApertusForCausalLM": None,
    "ArceeForCausalLM": None,
    "Cohere2ForCausalLM": None,
    "CohereForCausalLM": None,
    "Ernie4_5ForCausalLM": 128,
    "Ernie4_5_MoeForCausalLM": None,
    "Exaone4ForCausalLM": None,
    "Gemma2ForCausalLM": 256,
    "Gemma3ForCausalLM": 256,
    "GemmaForCausalLM": 256,
    "Glm4ForCausalLM": 128,
    "Glm4MoeForCausalLM": None,
    "GlmForCausalLM": 128,
    "GptOssForCausalLM": 64,
    "GraniteForCausalLM": None,
    "GraniteMoeForCausalLM": None,
    "Llama4ForCausalLM": 128,
    "LlamaForCausalLM": None,
    "MiniMaxM2ForCausalLM": 128,
    "Ministral3ForCausalLM": 128,
    "MistralForCausalLM": None,
    "MixtralForCausalLM": None,
    "NemotronForCausalLM": None,
    "Olmo2ForCausalLM": None,
    "Olmo3ForCausalLM": None,
    "OlmoForCausalLM": None,
    "OlmoeForCausalLM": None,
    "Phi3ForCausalLM": None,
    "PhiMoEForCausalLM": None,
    "Qwen2ForCausalLM": None,
    "Qwen2MoeForCausalLM": None,
    "Qwen3ForCausalLM": 128,
    "Qwen3MoeForCausalLM": None,
    "SeedOssForCausalLM": 128,
    "StableLmForCausalLM": None,
    "Starcoder2ForCausalLM": None,
}

# Where config.json names no num_key_value_heads these classes take all heads; others take a number of their
# own, which a config must not leave unsaid.
ALL_HEADS = frozenset(
    {
        "ApertusForCausalLM",
        "ArceeForCausalLM",
        "Cohere2ForCausalLM",
        "CohereForCausalLM",
        "GraniteForCausalLM",
        "GraniteMoeForCausalLM",
        "LlamaForCausalLM",
        "Olmo2ForCausalLM",
        "Olmo3ForCausalLM",
        "OlmoForCausalLM",
        "OlmoeForCausalLM",
        "Phi3ForCausalLM",
    }
)

# Multi-head latent attention.
LATENT = frozenset({"DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "Glm4MoeLiteForCausalLM"})

# Models of more than text: the architecture of the language model in their text_config.
WRAPPERS = {
    "Gemma3ForConditionalGeneration": "Gemma3ForCausalLM",
    "KimiVLForConditionalGeneration": "DeepseekV3ForCausalLM",
    "Llama4ForConditionalGeneration": "Llama4ForCausalLM",
    "Mistral3ForConditionalGeneration": "MistralForCausalLM",
    "Qwen2VLForConditionalGeneration": "Qwen2ForCausalLM",
    "Qwen2_5_VLForConditionalGeneration": "Qwen2ForCausalLM",
    "Qwen3VLForConditionalGeneration": "Qwen3ForCausalLM",
    "Qwen3VLMoeForConditionalGeneration": "Qwen3MoeForCausalLM",
}

# Layers that keep a state instead of KV: vLLM's hybrid models.
STATE_SPACE = frozenset(
    {
        "BailingMoeV2_5ForCausalLM",
        "BambaForCausalLM",
        "FalconH1ForCausalLM",
        "FalconMambaForCausalLM",
        "GraniteMoeHybridForCausalLM",
        "JambaForCausalLM",
        "KimiLinearForCausalLM",
        "Lfm2ForCausalLM",
        "Lfm2MoeForCausalLM",
        "Mamba2ForCausalLM",
        "MambaForCausalLM",
        "MiniMaxM1ForCausalLM",
        "MiniMaxText01ForCausalLM",
        "NemotronHForCausalLM",
        "OlmoHybridForCausalLM",
        "Plamo2ForCausalLM",
        "Qwen3NextForCausalLM",
        "Qwen3_5ForCausalLM",
        "Qwen3_5ForConditionalGeneration",
        "Qwen3_5MoeForCausalLM",
        "Qwen3_5MoeForConditionalGeneration",
        "Zamba2ForCausalLM",
    }
)

# What ``layer_types`` may name: layers that differ in what they attend to, never in the KV they keep.
ATTENTION_LAYERS = frozenset({"full_attention", "sliding_attention", "chunked_attention"})
