"""Copies chunks of KV between vLLM's paged cache and LMCache's memory, both on the CPU.

vLLM's CPU backend keeps one tensor a layer, ``[blocks, KV heads, block size, 2 x head size]`` (vLLM 0.28.0,
``v1/attention/backends/cpu_attn.py``). What its kernels put where inside a block depends on the instruction
set, so a block's content is never interpreted: a chunk is the bytes of its blocks, layer by layer. Engines
that share chunks must therefore run the same vLLM, dtype and instruction set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


class UnsupportedCache(ValueError):
    """The cache is not laid out as this code needs it."""


class PagedCache:
    """The paged KV cache of one engine, seen as blocks of opaque numbers.

    Args:
        layers: One tensor a layer.
        kv_shape: LMCache's ``(layers, 2, chunk tokens, KV heads, head size)``.
        block_tokens: vLLM's block size.

    Raises:
        UnsupportedCache: An assumption of this code does not hold; the message says which.
    """

    def __init__(self, layers: Sequence[Any], kv_shape: Sequence[int], block_tokens: int) -> None:
        layer_count, sides, chunk_tokens, kv_heads, head_size = kv_shape
        if sides != 2:
            raise UnsupportedCache(f"keys and values must be kept apart, but LMCache has {sides} side (MLA?)")
        if len(layers) != layer_count:
            raise UnsupportedCache(f"vLLM has {len(layers)} KV layers, LMCache expects {layer_count}")
        if chunk_tokens % block_tokens:
            raise UnsupportedCache(
                f"LMCache's chunk of {chunk_tokens} tokens is not a whole number of vLLM's blocks"
                f" of {block_tokens}"
            )
        self.block_tokens = block_tokens
        self.block_elements = 2 * kv_heads * head_size * block_tokens
        self._layers = [self._flat(layer, number) for number, layer in enumerate(layers)]

    def _flat(self, layer: Any, number: int) -> Any:
        """View a layer as ``[blocks, elements]``."""
        where = f"KV layer {number} of shape {tuple(layer.shape)}"
        if layer.device.type != "cpu":
            raise UnsupportedCache(f"{where} is on {layer.device}, not on the CPU")
        if not layer.is_contiguous():
            raise UnsupportedCache(f"{where} is not contiguous (strides {tuple(layer.stride())})")
        if layer.dim() != 4:
            raise UnsupportedCache(f"{where} does not have blocks as the first of four dimensions")
        if layer[0].numel() != self.block_elements:
            raise UnsupportedCache(
                f"{where} has {layer[0].numel()} elements a block, expected {self.block_elements}"
                f" for {self.block_tokens} tokens"
            )
        return layer.view(layer.shape[0], self.block_elements)

    def save(self, chunk: Any, slots: Any) -> None:
        """Copy the blocks of `slots` into an LMCache tensor."""
        blocks = self._blocks(slots)
        target = self._chunk_view(chunk, blocks)
        for number, layer in enumerate(self._layers):
            torch.index_select(layer, 0, blocks, out=target[number])

    def load(self, chunk: Any, slots: Any) -> None:
        """Copy an LMCache tensor into the blocks of `slots`."""
        blocks = self._blocks(slots)
        source = self._chunk_view(chunk, blocks)
        for number, layer in enumerate(self._layers):
            layer.index_copy_(0, blocks, source[number])

    def _blocks(self, slots: Any) -> Any:
        """Name the blocks that a run of slots fills, one after the other and to the last."""
        tokens = slots.numel()
        if tokens == 0 or tokens % self.block_tokens:
            raise UnsupportedCache(f"{tokens} tokens are not a whole number of blocks of {self.block_tokens}")
        rows = slots.to("cpu", torch.long).view(-1, self.block_tokens)
        firsts = rows[:, :1]
        if not torch.equal(rows, firsts + torch.arange(self.block_tokens)) or bool(
            (firsts % self.block_tokens).any()
        ):
            raise UnsupportedCache("the tokens of a chunk do not fill whole blocks of vLLM's cache in order")
        if bool((firsts < 0).any()):
            raise UnsupportedCache("a token of a chunk has no slot in vLLM's cache")
        return firsts.flatten() // self.block_tokens

    def _chunk_view(self, chunk: Any, blocks: Any) -> Any:
        """View an LMCache tensor as ``[layers, blocks, elements]``."""
        expected = len(self._layers) * blocks.numel() * self.block_elements
        if chunk is None or not chunk.is_contiguous() or chunk.numel() != expected:
            raise UnsupportedCache(f"LMCache's memory is not one contiguous tensor of {expected} elements")
        if chunk.dtype != self._layers[0].dtype:
            raise UnsupportedCache(f"LMCache keeps {chunk.dtype}, vLLM {self._layers[0].dtype}")
        return chunk.view(len(self._layers), blocks.numel(), self.block_elements)
