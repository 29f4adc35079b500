"""Builds the lab's tiny model, offline and always the same: weights, configuration and tokenizer.

Run with the engine's interpreter: ``python model.py DIRECTORY``. Qwen2's shape, small: 4 layers, 4 KV heads
of 64, so 8 KiB of KV a token in float32 and 2 MiB for a chunk of 256 tokens.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

SERVED_NAME = "kvtui-tiny"
BUILD = "2"
"""Changes whenever the model's files would."""
STAMP = "kvtui-model.json"

VOCAB = 8192
HIDDEN = 256
INTERMEDIATE = 512
LAYERS = 4
HEADS = 4
KV_HEADS = 4
SPECIAL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def is_built(directory: Path) -> bool:
    """Tell whether a directory holds this build of the model, whole."""
    try:
        stamp = json.loads((directory / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(stamp == {"build": BUILD})


def configuration() -> dict[str, Any]:
    """Build the model's ``config.json``."""
    return {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        "vocab_size": VOCAB,
        "hidden_size": HIDDEN,
        "intermediate_size": INTERMEDIATE,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "hidden_act": "silu",
        "max_position_embeddings": 32768,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "tie_word_embeddings": True,
        "use_sliding_window": False,
        "attention_dropout": 0.0,
        "bos_token_id": 0,
        "eos_token_id": 0,
        "pad_token_id": 0,
        "dtype": "float32",
    }


def weights(seed: int = 0) -> dict[str, Any]:
    """Draw the weights, NumPy arrays by name.

    A matrix keeps the size of what passes through it (deviation ``1 / sqrt(inputs)``), as training would
    leave it; much smaller, every token would get the same probability, and no proof about the cache could see
    anything.
    """
    import numpy

    random = numpy.random.Generator(numpy.random.PCG64(seed))

    def matrix(outputs: int, inputs: int, scale: float = 1.0) -> Any:
        values = random.standard_normal((outputs, inputs)) * (scale / inputs**0.5)
        return values.astype(numpy.float32)

    def vector(length: int, scale: float) -> Any:
        return (random.standard_normal(length) * scale).astype(numpy.float32)

    ones = numpy.ones(HIDDEN, dtype=numpy.float32)
    kv_width = HIDDEN // HEADS * KV_HEADS
    tensors = {"model.embed_tokens.weight": matrix(VOCAB, HIDDEN, 2.0), "model.norm.weight": ones.copy()}
    for layer in range(LAYERS):
        prefix = f"model.layers.{layer}"
        tensors[f"{prefix}.input_layernorm.weight"] = ones.copy()
        tensors[f"{prefix}.post_attention_layernorm.weight"] = ones.copy()
        # Sharper than unit scale: attention that picks some tokens, and not the average of thousands.
        tensors[f"{prefix}.self_attn.q_proj.weight"] = matrix(HIDDEN, HIDDEN, 2.0)
        tensors[f"{prefix}.self_attn.k_proj.weight"] = matrix(kv_width, HIDDEN, 2.0)
        tensors[f"{prefix}.self_attn.v_proj.weight"] = matrix(kv_width, HIDDEN)
        tensors[f"{prefix}.self_attn.q_proj.bias"] = vector(HIDDEN, 0.1)
        tensors[f"{prefix}.self_attn.k_proj.bias"] = vector(kv_width, 0.1)
        tensors[f"{prefix}.self_attn.v_proj.bias"] = vector(kv_width, 0.1)
        tensors[f"{prefix}.self_attn.o_proj.weight"] = matrix(HIDDEN, HIDDEN)
        tensors[f"{prefix}.mlp.gate_proj.weight"] = matrix(INTERMEDIATE, HIDDEN)
        tensors[f"{prefix}.mlp.up_proj.weight"] = matrix(INTERMEDIATE, HIDDEN)
        tensors[f"{prefix}.mlp.down_proj.weight"] = matrix(HIDDEN, INTERMEDIATE)
    return tensors


def write(directory: Path) -> None:
    """Write the whole model beside `directory`, then move it there."""
    from safetensors.numpy import save_file  # type: ignore[import-not-found]

    draft = directory.with_name(f"{directory.name}.{os.getpid()}.tmp")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    save_file(weights(), draft / "model.safetensors", metadata={"format": "pt"})
    _write_json(draft / "config.json", configuration())
    _write_json(draft / "generation_config.json", {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0})
    _write_tokenizer(draft)
    _write_json(draft / STAMP, {"build": BUILD})
    shutil.rmtree(directory, ignore_errors=True)
    draft.rename(directory)


def _write_tokenizer(directory: Path) -> None:
    """Train a byte-level BPE on generated English, and write it as `transformers` reads it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    sys.path.insert(0, str(Path(__file__).parent))
    from model_text import sentences  # type: ignore[import-not-found]

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB,
        min_frequency=1,
        show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        special_tokens=list(SPECIAL_TOKENS),
    )
    tokenizer.train_from_iterator(sentences(), trainer)
    if tokenizer.get_vocab_size() != VOCAB:
        raise SystemExit(f"the tokenizer has {tokenizer.get_vocab_size()} tokens, not {VOCAB}")
    tokenizer.save(str(directory / "tokenizer.json"))
    special = {"eos_token": SPECIAL_TOKENS[0], "pad_token": SPECIAL_TOKENS[0]}
    _write_json(
        directory / "tokenizer_config.json",
        {
            **special,
            "tokenizer_class": "PreTrainedTokenizerFast",
            "clean_up_tokenization_spaces": False,
            "model_max_length": 32768,
            "chat_template": CHAT_TEMPLATE,
        },
    )
    _write_json(directory / "special_tokens_map.json", special)


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
