"""KV moves between vLLM's blocks and LMCache's chunks unchanged, and a cache of another shape is refused."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from remote.lab.parts import CONNECTOR_DIR

pytestmark = pytest.mark.lab

PRELUDE = """
import torch
from kvtui_cpu_blocks import PagedCache, UnsupportedCache

LAYERS, HEADS, SIZE, BLOCK, CHUNK = 3, 2, 4, 8, 16
SHAPE = (LAYERS, 2, CHUNK, HEADS, SIZE)

def new_layers():
    torch.manual_seed(0)
    return [torch.randn(6, HEADS, BLOCK, 2 * SIZE) for _ in range(LAYERS)]

def slots(*blocks):
    return torch.cat([torch.arange(BLOCK) + block * BLOCK for block in blocks])

def chunk(tokens=CHUNK, dtype=torch.float32):
    return torch.zeros(2, LAYERS, tokens, HEADS * SIZE, dtype=dtype)

def refused(action, *words):
    try:
        action()
    except UnsupportedCache as error:
        assert all(word in str(error) for word in words), str(error)
    else:
        raise AssertionError(f"not refused: {words}")
"""

ROUND_TRIP = """
layers = new_layers()
cache = PagedCache(layers, SHAPE, BLOCK)
kept = [layer.clone() for layer in layers]
memory = chunk()
cache.save(memory, slots(4, 1))
for layer in layers:
    layer[[4, 1]] = 0
cache.load(memory, slots(4, 1))
assert all(torch.equal(layer, old) for layer, old in zip(layers, kept))
# The first block of the chunk may come to lie in any block of another request.
cache.load(memory, slots(0, 5))
for layer, old in zip(layers, kept):
    assert torch.equal(layer[0], old[4]) and torch.equal(layer[5], old[1])
    assert torch.equal(layer[2], old[2]) and torch.equal(layer[3], old[3])
"""

REFUSALS = """
refused(lambda: PagedCache(new_layers(), (LAYERS, 2, 12, HEADS, SIZE), BLOCK), "12", "whole number", "8")
refused(lambda: PagedCache(new_layers(), (LAYERS, 1, CHUNK, HEADS, SIZE), BLOCK), "MLA")
refused(lambda: PagedCache(new_layers()[1:], SHAPE, BLOCK), "2 KV layers", "expects 3")
refused(lambda: PagedCache(new_layers(), SHAPE, 16), "128 elements a block", "256")
turned = [layer.transpose(1, 2) for layer in new_layers()]
refused(lambda: PagedCache(turned, SHAPE, BLOCK), "not contiguous")
flat = [layer.view(6, -1) for layer in new_layers()]
refused(lambda: PagedCache(flat, SHAPE, BLOCK), "four dimensions")
elsewhere = [layer.to("meta") for layer in new_layers()]
refused(lambda: PagedCache(elsewhere, SHAPE, BLOCK), "meta", "not on the CPU")
cache = PagedCache(new_layers(), SHAPE, BLOCK)
refused(lambda: cache.save(chunk(), slots(1, 2)[:12]), "12 tokens")
refused(lambda: cache.save(chunk(), slots(1, 2) + 1), "do not fill whole blocks")
refused(lambda: cache.save(chunk(), slots(1, 2).flip(0)), "do not fill whole blocks")
refused(lambda: cache.load(chunk(), slots(-1, 2)), "no slot")
refused(lambda: cache.load(chunk(32), slots(1, 2)), "contiguous tensor of 768 elements")
refused(lambda: cache.load(chunk(dtype=torch.bfloat16), slots(1, 2)), "bfloat16", "float32")
refused(lambda: cache.load(None, slots(1, 2)), "memory")
"""


@pytest.mark.parametrize("code", [ROUND_TRIP, REFUSALS], ids=["round trip", "refusals"])
def test_blocks(engine_env: Path, code: str) -> None:
    python = str(engine_env / "bin" / "python")
    done = subprocess.run(
        [python, "-c", PRELUDE + code],
        env={"PYTHONPATH": str(CONNECTOR_DIR), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
