"""What a starting engine is doing, in words, from the lines of its log.

Lines of vLLM 0.26 to 0.32 (``v1/engine/core.py``, ``v1/worker``, ``model_executor/model_loader``,
``compilation``) and LMCache 0.5.3 to 0.5.6 (``v1/cache_engine.py``, ``v1/storage_backend``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kvtui.loglines import clean

FIRST = "starting Python"
# What a line says has begun; the last such line of a log counts.
_BEGINNINGS = (
    ("non-default args: ", "reading the model's configuration"),
    ("Using max model len ", "starting the engine's core"),
    ("Initializing a V1 LLM engine", "starting the engine's core"),
    ("Starting to load model ", "loading weights"),
    ("Loading model from scratch", "loading weights"),
    ("Loading weights took ", "preparing the weights"),
    ("Model loading took ", "measuring memory"),
    ("for vLLM's torch.compile", "compiling the model"),
    ("Dynamo bytecode transform time", "compiling the model"),
    ("Profiling CUDA graph memory", "measuring CUDA graphs"),
    ("Capturing CUDA graphs", "capturing CUDA graphs"),
    ("KV cache size: ", "allocating the KV cache"),
    ("Creating v1 connector with name: LMCache", "starting LMCache"),
    ("Initialize storage manager on rank", "allocating LMCache's memory"),
    ("Creating connector for URL", "connecting to the store"),
    ("Connection initialized/re-established at", "starting LMCache"),
    ("Health monitor initialized", "warming up the engine"),
    ("kernel_warmup", "warming up kernels"),
    ("Supported tasks: ", "opening the API"),
    ("Starting vLLM server on ", "opening the API"),
    ("Application startup complete", "answering a first question"),
)
_BEGINNING = re.compile("|".join(re.escape(words) for words, _ in _BEGINNINGS))
_PHASES = dict(_BEGINNINGS)
_SHARDS = re.compile(r"Loading \w+ checkpoint shards:\s+\d+% Completed \| (\d+)/(\d+)")


def phase_of(lines: Sequence[str]) -> str:
    """What an engine with this log is doing.

    Args:
        lines: Its log so far; escapes and anything else may be in it.
    """
    for raw in reversed(lines):
        line = clean(raw)
        if match := _SHARDS.search(line):
            done, of = int(match[1]), int(match[2])
            return f"loading weights, file {min(done + 1, of)} of {of}" if of > 1 else "loading weights"
        if match := _BEGINNING.search(line):
            return _PHASES[match[0]]
    return FIRST
