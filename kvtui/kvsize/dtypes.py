"""How many bytes a value of KV takes."""

from __future__ import annotations

from typing import Any

from kvtui.errors import PlanError
from kvtui.kvsize.config import Fields

_MODEL_BYTES = {"float32": 4, "float": 4, "float16": 2, "half": 2, "bfloat16": 2}
# vLLM 0.28.0 ``config/cache.py``; types that pack scales beside the values are not among them.
_CACHE_BYTES = {"float16": 2, "bfloat16": 2, "fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1, "fp8_inc": 1}


def dtype_bytes(model: Fields, text: Fields, dtype: str, kv_cache_dtype: str) -> int:
    """Bytes a value of KV.

    Args:
        model: The whole config.
        text: The language model's part of it; the same where there is no other part.
        dtype: vLLM's ``--dtype``.
        kv_cache_dtype: vLLM's ``--kv-cache-dtype``.

    Raises:
        PlanError: A type that is not known, or none is named.
    """
    if kv_cache_dtype == "auto":
        kv_cache_dtype = _checkpoint_kv_dtype(model, text)
    if kv_cache_dtype != "auto":
        if kv_cache_dtype not in _CACHE_BYTES:
            raise PlanError(
                f"{model.source}: the size of KV of type {kv_cache_dtype!r} is not known to kvtui.",
                f"Known are auto, {', '.join(_CACHE_BYTES)}.",
            )
        return _CACHE_BYTES[kv_cache_dtype]
    named = _named(model, text) if dtype == "auto" else dtype
    if not isinstance(named, str) or named not in _MODEL_BYTES:
        raise PlanError(
            f"{model.source}: the KV type {named!r} is not known to kvtui.", "Name a dtype, such as bfloat16."
        )
    if dtype == "auto" and _MODEL_BYTES[named] == 4:
        return 2  # vLLM's auto serves float32 checkpoints in 16 bits (vLLM 0.28.0 ``config/model.py``).
    return _MODEL_BYTES[named]


def _named(model: Fields, text: Fields) -> Any:
    for fields in (model, text):
        for name in ("dtype", "torch_dtype"):
            if fields.has(name):
                named = fields.values[name]
                return named.removeprefix("torch.") if isinstance(named, str) else named
    return None


def _checkpoint_kv_dtype(model: Fields, text: Fields) -> str:
    """The KV type that a checkpoint asks for; quantised weights alone ask for none.

    From vLLM 0.28.0 ``utils/torch_utils.py``.

    Raises:
        PlanError: It asks for a KV type in a way that does not tell what LMCache will store.
    """
    found = model.values.get("quantization_config") or text.values.get("quantization_config")
    if not isinstance(found, dict):
        return "auto"
    inner = found.get("quantization")
    places = (inner, found) if isinstance(inner, dict) else (found,)
    asked = [place.get(name) for name in ("kv_cache_scheme", "kv_cache_quant_algo") for place in places]
    wanted = next((value for value in asked if value), None)
    if wanted is None:
        return "auto"
    if isinstance(wanted, str) and wanted.lower() == "fp8":
        return "fp8"
    raise PlanError(
        f"{model.source}: the checkpoint quantises its KV in a way that is not known to kvtui.",
        "Name the KV type that the engine uses, such as fp8.",
    )
