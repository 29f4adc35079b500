"""PYTHONHASHSEED: which values Python takes, and which make keys that other engines can find."""

from __future__ import annotations

MAX_SEED = 4294967295


def check_seed(seed: str | None) -> str | None:
    """Pass on a seed with which Python starts, and refuse any other.

    Args:
        seed: The value of the variable; ``None`` for unset.

    Raises:
        ValueError: Neither ``random``, nor empty, nor an integer from 0 to 4294967295 (CPython,
            ``config_init_hash_seed``).
    """
    if seed is None or seed in ("", "random"):
        return seed
    if not seed.isascii() or not seed.isdecimal() or int(seed) > MAX_SEED:
        raise ValueError(f'PYTHONHASHSEED "{seed}" must be "random" or an integer from 0 to {MAX_SEED}')
    return seed


def is_fixed(seed: str | None, algorithm: str) -> bool:
    """Whether two engines with this same seed start from the same hash.

    LMCache's ``builtin`` hashes the seed's text with Python's own salted ``hash``, so there only a number
    will do; the other algorithms hash the text itself (vLLM 0.28.0 ``v1/core/kv_cache_utils.py``,
    LMCache 0.5.4 ``v1/token_database.py``).
    """
    if seed is None:
        return False
    return seed not in ("", "random") if algorithm == "builtin" else True
