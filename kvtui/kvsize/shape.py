"""The shape of one token's KV, and the sizes that follow from it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KvShape:
    """The shape of one token's KV, over all layers, as LMCache stores it.

    LMCache stores every layer whole, sliding-window layers too: its connector turns vLLM's hybrid cache
    manager off (LMCache 0.5.4 ``integration/vllm/vllm_service_factory.py``).

    Attributes:
        layers: Number of hidden layers.
        kv_heads: Key-value heads a layer, over all ranks; 1 for latent attention.
        head_dim: Values a head.
        dtype_bytes: Bytes a value.
        latent: Whether K and V are one latent vector, the same on every rank, kept by the first rank alone.
        ranks: Size of the tensor-parallel group.
    """

    layers: int
    kv_heads: int
    head_dim: int
    dtype_bytes: int
    latent: bool = False
    ranks: int = 1

    @property
    def rank_heads(self) -> int:
        """Key-value heads of one rank; with more ranks than heads each rank has a copy of one.

        From vLLM 0.28.0 ``config/model.py``, ``get_num_kv_heads``.
        """
        return max(1, self.kv_heads // self.ranks)

    @property
    def storing_ranks(self) -> int:
        """How many ranks store KV of their own (LMCache 0.5.4 ``save_only_first_rank`` for latent KV)."""
        return 1 if self.latent else self.ranks

    @property
    def replicated(self) -> bool:
        """Whether ranks store copies of the same heads, so that more ranks take more bytes."""
        return self.storing_ranks > self.kv_heads

    @property
    def rank_bytes_per_token(self) -> int:
        """Bytes of one token's KV that a storing rank keeps."""
        sides = 1 if self.latent else 2
        return self.layers * sides * self.rank_heads * self.head_dim * self.dtype_bytes

    @property
    def bytes_per_token(self) -> int:
        """Bytes of one token's KV over all ranks."""
        return self.storing_ranks * self.rank_bytes_per_token

    def chunk_bytes(self, chunk_tokens: int) -> int:
        """Bytes of one chunk of one rank: a block in DRAM, a file, a value in the store."""
        return chunk_tokens * self.rank_bytes_per_token

    def document_bytes(self, tokens: int, chunk_tokens: int) -> int:
        """Bytes that LMCache stores of a document over all ranks: only whole chunks."""
        return tokens // chunk_tokens * chunk_tokens * self.bytes_per_token
