"""What an engine needs to run on the lab's CPU, beside what every engine needs.

Sources: vLLM 0.28.0 ``envs.py`` and ``platforms/cpu.py``; py-setproctitle 1.3 ``spt_config.h``.
"""

from __future__ import annotations

ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    # Even in eager mode the ranking of log-probabilities is compiled (``v1/sample/ops/logprobs.py``): that
    # needs a C++ compiler, and takes ten seconds of the first request.
    "TORCHDYNAMO_DISABLE": "1",
    # vLLM's EngineCore gives itself a title, which would overwrite its environment in /proc/PID/environ.
    "SPT_NOENV": "1",
}

ARGUMENTS = (
    "--enforce-eager",
    *("--max-num-seqs", "4"),
    *("--max-num-batched-tokens", "2048"),
    # 32,768 tokens of KV. The variable VLLM_CPU_KVCACHE_SPACE, in whole GiB, would overrule it.
    *("--kv-cache-memory-bytes", str(256 * 1024**2)),
)

DTYPE = "float32"
"""bf16 has no native support on AVX2, and takes twice as long."""
