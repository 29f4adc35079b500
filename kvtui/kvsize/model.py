"""The KV shape of a model: what vLLM and LMCache make of its ``config.json``."""

from __future__ import annotations

from typing import Any

from kvtui.errors import PlanError
from kvtui.kvsize.architectures import ALL_HEADS, ATTENTION_LAYERS, GROUPED, LATENT, STATE_SPACE, WRAPPERS
from kvtui.kvsize.config import Fields
from kvtui.kvsize.dtypes import dtype_bytes
from kvtui.kvsize.shape import KvShape


def kv_shape(
    config: dict[str, Any],
    source: str,
    dtype: str = "auto",
    kv_cache_dtype: str = "auto",
    tensor_parallel: int = 1,
) -> KvShape:
    """The KV shape of a model.

    Args:
        config: The parsed ``config.json``.
        source: Its name, for the message.
        dtype: vLLM's ``--dtype``; ``auto`` takes what the config names.
        kv_cache_dtype: vLLM's ``--kv-cache-dtype``; ``auto`` takes the model's own type.
        tensor_parallel: vLLM's ``--tensor-parallel-size``.

    Raises:
        PlanError: An architecture that is not known here, a field that is missing or wrong, or a number of
            ranks over which the model cannot be split.
    """
    model = Fields(source, config)
    architecture = _architecture(model)
    text = model
    if architecture in WRAPPERS:
        architecture = WRAPPERS[architecture]
        # Older configs of some wrappers have the language model's fields at the top.
        text = model if model.has("num_hidden_layers") else model.inner("text_config")
    _refuse_other_layers(text, architecture)
    value_bytes = dtype_bytes(model, text, dtype, kv_cache_dtype)
    layers = text.whole("num_hidden_layers")
    heads = text.whole("num_attention_heads")
    if tensor_parallel < 1 or heads % tensor_parallel:
        raise PlanError(
            f"{source}: {heads} attention heads cannot be split over {tensor_parallel} ranks.",
            "Choose a tensor-parallel size that divides them.",
        )
    if architecture in LATENT:
        latent_dim = text.whole("kv_lora_rank") + text.whole("qk_rope_head_dim")
        return KvShape(layers, 1, latent_dim, value_bytes, latent=True, ranks=tensor_parallel)
    kv_heads = _kv_heads(text, architecture, heads)
    if max(kv_heads, tensor_parallel) % min(kv_heads, tensor_parallel):
        raise PlanError(
            f"{source}: {kv_heads} KV heads can be neither split nor copied over {tensor_parallel} ranks.",
            "Choose a tensor-parallel size that divides them, or a multiple of them.",
        )
    return KvShape(layers, kv_heads, _head_dim(text, architecture, heads), value_bytes, ranks=tensor_parallel)


def _architecture(model: Fields) -> str:
    named = model.values.get("architectures")
    architecture = named[0] if isinstance(named, list) and named else None
    if not isinstance(architecture, str):
        raise PlanError(
            f"{model.source}: architectures names no architecture.",
            "Give the config.json of the model itself.",
        )
    if architecture in STATE_SPACE:
        raise PlanError(
            f"{model.source}: {architecture} has state-space layers, which LMCache's connector cannot store."
        )
    if architecture not in GROUPED.keys() | LATENT | WRAPPERS.keys():
        raise PlanError(
            f"{model.source}: the KV size of architecture {architecture} is not known to kvtui.",
            f"Known are {', '.join(sorted((*GROUPED, *LATENT, *WRAPPERS)))}.",
        )
    return architecture


def _refuse_other_layers(text: Fields, architecture: str) -> None:
    layer_types = text.values.get("layer_types")
    if isinstance(layer_types, list):
        for layer_type in layer_types:
            if not isinstance(layer_type, str) or layer_type not in ATTENTION_LAYERS:
                raise PlanError(
                    f"{text.source}: {architecture} with {layer_type!r} layers is not known to kvtui."
                )
    if architecture in GROUPED and text.has("kv_lora_rank"):
        raise PlanError(f"{text.source}: {architecture} with latent attention is not known to kvtui.")


def _kv_heads(text: Fields, architecture: str, heads: int) -> int:
    if not text.has("num_key_value_heads") and architecture in ALL_HEADS:
        return heads
    return text.whole("num_key_value_heads")


def _head_dim(text: Fields, architecture: str, heads: int) -> int:
    if text.has("head_dim"):
        return text.whole("head_dim")
    default = GROUPED[architecture]
    if default is not None and "head_dim" not in text.values:  # a null overrides the class's own size
        return default
    hidden = text.whole("hidden_size")
    if hidden < heads:
        raise PlanError(f"{text.source}: {text.part}hidden_size {hidden} is less than {heads} heads.")
    return hidden // heads
