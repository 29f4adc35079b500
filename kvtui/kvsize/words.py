"""A KV shape in words and as JSON."""

from __future__ import annotations

from kvtui.kvsize.shape import KvShape

# LMCache's default, and the most common chunk.
CHUNK_TOKENS = 256


def size_json(shape: KvShape) -> dict[str, int | bool]:
    """The sizes as a JSON object."""
    return {
        "bytes_per_token": shape.bytes_per_token,
        "chunk_tokens": CHUNK_TOKENS,
        "bytes_per_chunk": shape.document_bytes(CHUNK_TOKENS, CHUNK_TOKENS),
        "ranks": shape.ranks,
        "storing_ranks": shape.storing_ranks,
        "rank_bytes_per_token": shape.rank_bytes_per_token,
        "rank_bytes_per_chunk": shape.chunk_bytes(CHUNK_TOKENS),
        "replicated": shape.replicated,
    }


def size_text(shape: KvShape) -> str:
    """The sizes in lines; those of a rank only where they differ."""
    chunk = shape.document_bytes(CHUNK_TOKENS, CHUNK_TOKENS)
    lines = [
        f"{shape.bytes_per_token:,} bytes a token",
        f"{chunk:,} bytes a chunk of {CHUNK_TOKENS} tokens ({chunk / 1024**2:,.4g} MiB)",
    ]
    if shape.latent and shape.ranks > 1:
        lines.append(f"Latent KV is the same on all {shape.ranks} ranks, and the first alone stores it.")
    elif shape.ranks > 1:
        lines.append(
            f"{shape.rank_bytes_per_token:,} bytes a token and {shape.chunk_bytes(CHUNK_TOKENS):,} a chunk "
            f"on each of {shape.ranks} ranks"
        )
    if shape.replicated:
        lines.append(
            f"{shape.kv_heads} KV heads on {shape.ranks} ranks: "
            f"each is stored {shape.ranks // shape.kv_heads} times."
        )
    return "\n".join(lines)
