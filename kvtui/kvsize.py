"""How many bytes of KV LMCache stores for a token, from a model's ``config.json``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kvtui.errors import PlanError

GQA_ARCHITECTURES = frozenset(
    {"LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM"}
)
DTYPE_BYTES = {"float32": 4, "float": 4, "float16": 2, "half": 2, "bfloat16": 2}


@dataclass(frozen=True, slots=True)
class KvShape:
    """The shape of one token's KV, over all layers.

    Attributes:
        layers: Number of hidden layers.
        kv_heads: Key-value heads a layer, over all ranks.
        head_dim: Values a head.
        dtype_bytes: Bytes a value.
    """

    layers: int
    kv_heads: int
    head_dim: int
    dtype_bytes: int

    @property
    def bytes_per_token(self) -> int:
        """Bytes of K and V for one token (LMCache 0.5.4 ``integration/vllm/vllm_service_factory.py``)."""
        return 2 * self.layers * self.kv_heads * self.head_dim * self.dtype_bytes

    def document_bytes(self, tokens: int, chunk_tokens: int) -> int:
        """Bytes that LMCache stores of a document: only whole chunks."""
        return tokens // chunk_tokens * chunk_tokens * self.bytes_per_token


def _whole(config: dict[str, Any], field: str, source: str) -> int:
    value = config.get(field)
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise PlanError(f"{source}: {field} is {value!r}, where a whole number above 0 is needed.")
    return value


def kv_shape(config: dict[str, Any], source: str, dtype: str = "auto") -> KvShape:
    """The KV shape of a model with grouped-query attention.

    Quantised weights change nothing: the KV keeps the model's own type.

    Args:
        config: The parsed ``config.json``.
        source: Its name, for the message.
        dtype: vLLM's ``--dtype``; ``auto`` takes what the config names.

    Raises:
        PlanError: An architecture that is not known here, or a field that is missing or wrong.
    """
    architectures = config.get("architectures")
    architecture = architectures[0] if isinstance(architectures, list) and architectures else None
    if architecture not in GQA_ARCHITECTURES:
        raise PlanError(
            f"{source}: the KV size of architecture {architecture!r} is not known to kvtui.",
            f"Known are {', '.join(sorted(GQA_ARCHITECTURES))}.",
        )
    if "kv_lora_rank" in config or config.get("use_sliding_window"):
        raise PlanError(
            f"{source}: {architecture} with latent or sliding-window attention is not known to kvtui."
        )
    heads = _whole(config, "num_attention_heads", source)
    kv_heads = _whole(config, "num_key_value_heads", source) if "num_key_value_heads" in config else heads
    if config.get("head_dim") is not None:
        head_dim = _whole(config, "head_dim", source)
    else:
        head_dim = _whole(config, "hidden_size", source) // heads
    named = config.get("dtype", config.get("torch_dtype")) if dtype == "auto" else dtype
    if not isinstance(named, str) or named not in DTYPE_BYTES:
        raise PlanError(
            f"{source}: the KV type {named!r} is not known to kvtui.", "Name a dtype in the plan."
        )
    return KvShape(_whole(config, "num_hidden_layers", source), kv_heads, head_dim, DTYPE_BYTES[named])


def load_config(path: Path) -> dict[str, Any]:
    """Read a ``config.json``.

    Raises:
        PlanError: It cannot be read, or is not a JSON object.
    """
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise PlanError(f"There is no file {path}.", "Give the path of a model's config.json.") from error
    except (OSError, ValueError) as error:
        raise PlanError(f"{path} cannot be read as JSON: {error}.") from error
    if not isinstance(config, dict):
        raise PlanError(f"{path} holds no JSON object.", "Give the path of a model's config.json.")
    return config
