"""LMCache's in-process connector for vLLM on a CPU.

LMCache 0.5.4 runs on a CPU in every part but one: ``CreateGPUConnector`` knows no ``cpu`` and raises ``No
supported cpu connector found.`` This module supplies the missing part. vLLM loads it by its own option, in
every process that needs a connector::

    --kv-transfer-config '{"kv_connector": "LMCacheConnectorV1",
                           "kv_connector_module_path": "kvtui_cpu_connector", "kv_role": "kv_both"}'

with this directory on ``PYTHONPATH``. A cache that is not laid out as expected stops the engine's start, and
the engine's log says why: a degraded engine would serve, and never reuse.
"""

from __future__ import annotations

import logging
from typing import Any

import lmcache.v1.gpu_connector as gpu_connector
import torch
from kvtui_cpu_blocks import PagedCache, UnsupportedCache  # type: ignore[import-not-found]
from lmcache.utils import EngineType
from lmcache.v1.gpu_connector.gpu_connectors import GPUConnectorInterface
from vllm.distributed.kv_transfer.kv_connector.v1 import lmcache_connector

log = logging.getLogger("vllm.kvtui_cpu_connector")  # a child of vLLM's logger, so that its handlers print it


class CpuConnector(GPUConnectorInterface):  # type: ignore[misc]
    """Moves whole blocks between vLLM's CPU cache and LMCache's memory objects."""

    def __init__(self, config: Any, metadata: Any) -> None:
        for option in ("use_layerwise", "save_unfull_chunk", "enable_blending"):
            if getattr(config, option, False):
                raise UnsupportedCache(f"the CPU connector needs LMCache's option {option} to be false")
        self._kv_shape = metadata.kv_shape
        self._cache: PagedCache | None = None

    def attach(self, layers: list[Any], block_tokens: int) -> None:
        """Take vLLM's cache, and check everything that is assumed about it.

        Raises:
            UnsupportedCache: The cache is laid out in another way.
        """
        self._cache = PagedCache(layers, self._kv_shape, block_tokens)

    def initialize_kvcaches_ptr(self, **kwargs: Any) -> None:
        """Do nothing: the cache was attached when vLLM registered it."""

    def get_shape(self, num_tokens: int) -> Any:
        """Give the shape of a memory object, LMCache's format ``KV_2LTD``."""
        layers, sides, _, kv_heads, head_size = self._kv_shape
        return torch.Size([sides, layers, num_tokens, kv_heads * head_size])

    def from_gpu(self, memory_obj: Any, start: int, end: int, **kwargs: Any) -> None:
        """Save the tokens from `start` to `end`."""
        self._attached().save(memory_obj.tensor, kwargs["slot_mapping"][start:end])

    def to_gpu(self, memory_obj: Any, start: int, end: int, **kwargs: Any) -> None:
        """Load the tokens from `start` to `end`."""
        self._attached().load(memory_obj.tensor, kwargs["slot_mapping"][start:end])

    def batched_from_gpu(self, memory_objs: Any, starts: Any, ends: Any, **kwargs: Any) -> None:
        """Save several chunks."""
        for memory_obj, start, end in zip(memory_objs, starts, ends, strict=True):
            self.from_gpu(memory_obj, start, end, **kwargs)

    def batched_to_gpu(
        self, memory_objs: Any = None, starts: Any = None, ends: Any = None, **kwargs: Any
    ) -> None:
        """Load several chunks."""
        for memory_obj, start, end in zip(memory_objs, starts, ends, strict=True):
            self.to_gpu(memory_obj, start, end, **kwargs)

    def _attached(self) -> PagedCache:
        if self._cache is None:
            raise UnsupportedCache("vLLM has not registered its KV cache")
        return self._cache


class LMCacheConnectorV1(lmcache_connector.LMCacheConnectorV1):  # type: ignore[misc]
    """vLLM's LMCache connector; it hands the registered cache to the CPU connector."""

    def register_kv_caches(self, kv_caches: dict[str, Any]) -> None:
        """Register vLLM's cache, one tensor a layer.

        Raises:
            UnsupportedCache: The cache is laid out in another way; the engine does not start.
        """
        super().register_kv_caches(kv_caches)
        engine = self._lmcache_engine.lmcache_engine
        connector = getattr(engine, "gpu_connector", None)
        if not isinstance(connector, CpuConnector):
            log.error("kvtui CPU connector: LMCache did not start, see its lines above")
            return
        block_tokens = self._vllm_config.cache_config.block_size
        try:
            connector.attach(list(kv_caches.values()), block_tokens)
        except UnsupportedCache as error:
            log.error("kvtui CPU connector: %s", error)
            raise
        log.info("kvtui CPU connector: %d layers, blocks of %d tokens", len(kv_caches), block_tokens)


def create_connector(config: Any, metadata: Any, engine: Any, *args: Any, **kwargs: Any) -> Any:
    """Stand in for LMCache's ``CreateGPUConnector``: ours for vLLM on a CPU, theirs for all else."""
    if engine == EngineType.VLLM and gpu_connector.torch_device_type == "cpu":
        return CpuConnector(config, metadata)
    return _lmcache_create(config, metadata, engine, *args, **kwargs)


# LMCache 0.5.4 looks the name up in the package at each call (integration/vllm/vllm_service_factory.py).
_lmcache_create = gpu_connector.CreateGPUConnector
gpu_connector.CreateGPUConnector = create_connector
