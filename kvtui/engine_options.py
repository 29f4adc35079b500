"""What the engine's own arguments say about its KV."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kvtui.errors import PlanError

# Of vLLM 0.28.0 for most devices; those with 70 GB and more take larger steps (``engine/arg_utils.py``).
DEFAULT_STEP_TOKENS = 2048
# Of vLLM 0.28.0 (``config/cache.py``).
DEFAULT_GPU_SHARE = 0.92


def _value(arguments: Sequence[str], *names: str) -> str | None:
    """The last value that an option is given; vLLM takes ``_`` for ``-`` in names."""
    found = None
    for place, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name.replace("_", "-") in names:
            found = value if equals else arguments[place + 1] if place + 1 < len(arguments) else ""
    return found


def _whole(arguments: Sequence[str], default: int, *names: str) -> int:
    value = _value(arguments, *names)
    if value is None:
        return default
    if not value.isascii() or not value.isdecimal() or int(value) == 0:
        raise PlanError(f"extra_args: {names[0]} is {value!r}, where a whole number above 0 is needed.")
    return int(value)


def tensor_parallel(arguments: Sequence[str]) -> int:
    """Ranks over which the engine splits the model.

    Raises:
        PlanError: The option's value is no whole number above 0.
    """
    return _whole(arguments, 1, "--tensor-parallel-size", "-tp")


def pipeline_parallel(arguments: Sequence[str]) -> int:
    """Groups of ranks over which the engine splits the model's layers.

    Raises:
        PlanError: The option's value is no whole number above 0.
    """
    return _whole(arguments, 1, "--pipeline-parallel-size", "-pp")


def step_tokens(arguments: Sequence[str]) -> int:
    """Most tokens that the engine computes, and then stores, at once.

    Raises:
        PlanError: The option's value is no whole number above 0.
    """
    return _whole(arguments, DEFAULT_STEP_TOKENS, "--max-num-batched-tokens")


def gpu_memory_share(arguments: Sequence[str]) -> float:
    """The part of each GPU's memory that the engine takes.

    Raises:
        PlanError: The option's value is no number above 0 and up to 1.
    """
    name = "--gpu-memory-utilization"
    value = _value(arguments, name)
    if value is None:
        return DEFAULT_GPU_SHARE
    try:
        share = float(value)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise PlanError(f"extra_args: {name} is {value!r}, where a number above 0 and up to 1 is needed.")
    return share


def kv_cache_dtype(arguments: Sequence[str]) -> str:
    """The engine's ``--kv-cache-dtype``."""
    return _value(arguments, "--kv-cache-dtype") or "auto"


def named(arguments: Sequence[str], names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names that stand among the arguments, once each, in the order of the names."""
    given = {argument.partition("=")[0].replace("_", "-") for argument in arguments}
    return tuple(name for name in names if name in given)
