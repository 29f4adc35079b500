"""Proof that cached KV is what the engine uses: its log-probabilities depend on the bytes in Valkey."""

from __future__ import annotations

import asyncio
import http.client
import json
import random
import shlex
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from glide_sync import GlideClient, GlideClientConfiguration, NodeAddress

from kvtui.answer_check import TOLERANCES
from remote import lab
from remote.lab import engine, valkey
from tests.lab import helpers

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600)]

PROMPT_TOKENS = 2064
CHUNK_TOKENS = 256
TOLERANCE = TOLERANCES["float32"]
LMCACHE = """\
chunk_size: 256
local_cpu: false
max_local_cpu_size: 1.0
remote_url: valkey://127.0.0.1:{port}
remote_serde: naive
pre_caching_hash_algorithm: sha256_cbor
internal_api_server_enabled: false
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the engine made of a prompt."""

    logprobs: tuple[float, ...]
    cached_tokens: int

    def distance(self, other: Answer) -> float:
        """The largest difference of two answers' log-probabilities."""
        return max(abs(mine - theirs) for mine, theirs in zip(self.logprobs, other.logprobs, strict=True))


class Engine:
    """A running engine and the store behind it."""

    def __init__(self, paths: lab.LabPaths, port: int, store: GlideClient) -> None:
        self.paths = paths
        self.port = port
        self.store = store

    def serves(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def ask(self, token_ids: list[int]) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        body = {"model": "tiny", "prompt": token_ids, "max_tokens": 4, "temperature": 0, "ignore_eos": True}
        try:
            connection.request(
                "POST",
                "/v1/completions",
                json.dumps({**body, "logprobs": 1}),
                {"Content-Type": "application/json"},
            )
            answer = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        return Answer(
            logprobs=tuple(answer["choices"][0]["logprobs"]["token_logprobs"]),
            cached_tokens=answer["usage"]["prompt_tokens_details"]["cached_tokens"],
        )

    def keys(self) -> set[bytes]:
        cursor, found = b"0", set[bytes]()
        while True:
            cursor, batch = self.store.scan(cursor, count=1000)  # type: ignore[assignment]
            found |= set(batch)  # type: ignore[arg-type]
            if cursor == b"0":
                return found


@pytest.fixture
async def running(engine_env: Path, tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine on a node of a real lab, its KV in the lab's Valkey alone."""
    paths = lab.LabPaths(tmp_path / "lab", engine_env)
    described = await lab.up(paths, lambda line: None)
    try:
        port = valkey.free_port()
        log = paths.home("gpu-a") / "engine.log"
        (paths.home("gpu-a") / "lmcache.yaml").write_text(LMCACHE.format(port=described.store.port))
        async with helpers.connect(described.nodes["gpu-a"]) as connection:
            await connection.run(helpers.detached(command(described.parts, port), "engine.pid", "engine.log"))
        store = GlideClient.create(
            GlideClientConfiguration([NodeAddress(valkey.HOST, described.store.port)], request_timeout=5000)
        )
        started = Engine(paths, port, store)
        await until_it_serves(started, log)
        yield started
        store.close()
    finally:
        await lab.down(paths, lambda line: None)


def command(parts: lab.LabParts, port: int) -> str:
    """Build the shell command that starts the engine."""
    transfer = {
        "kv_connector": "LMCacheConnectorV1",
        "kv_connector_module_path": parts.connector_module,
        "kv_role": "kv_both",
        "kv_load_failure_policy": "fail",
    }
    environment = {
        **engine.ENVIRONMENT,
        "LMCACHE_CONFIG_FILE": "lmcache.yaml",
        "LMCACHE_TRACK_USAGE": "false",
        "VLLM_NO_USAGE_STATS": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": parts.connector_dir,
    }
    words = ["env", *(f"{name}={value}" for name, value in environment.items())]
    words += [parts.engine_python, "-m", "vllm.entrypoints.openai.api_server", "--model", parts.model_dir]
    words += ["--served-model-name", "tiny", "--host", "127.0.0.1", "--port", str(port)]
    words += ["--dtype", engine.DTYPE, "--max-model-len", "4096", "--no-enable-prefix-caching"]
    words += [
        "--enable-prompt-tokens-details",
        *engine.ARGUMENTS,
        "--kv-transfer-config",
        json.dumps(transfer),
    ]
    return shlex.join(words)


async def until_it_serves(started: Engine, log: Path) -> None:
    deadline = time.monotonic() + 400
    while not await asyncio.to_thread(started.serves):
        text = await asyncio.to_thread(log.read_text, errors="replace")
        assert "Traceback" not in text, text[-4000:]
        assert time.monotonic() < deadline, text[-4000:]
        await asyncio.sleep(0.2)


async def until_stored(started: Engine, count: int) -> None:
    await helpers.eventually(lambda: len(started.keys()) >= count, f"{count} keys in Valkey")


def environment_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/environ").read_text(errors="replace").split("\0")


async def test_the_bytes_in_valkey_decide_what_the_engine_says(running: Engine) -> None:
    source = random.Random(11)  # noqa: S311
    first, second = ([source.randrange(300, 4000) for _ in range(PROMPT_TOKENS)] for _ in range(2))
    chunks = PROMPT_TOKENS // CHUNK_TOKENS

    shown = await lab.status(running.paths)
    assert any(name.startswith("VLLM::") for _, name in shown.processes)
    for pid, name in shown.processes:
        assert "PYTHONHASHSEED=0" in environment_of(pid), f"{name} hides its environment"

    cold = await asyncio.to_thread(running.ask, first)
    assert cold.cached_tokens == 0
    await until_stored(running, chunks)
    assert len(running.keys()) == chunks

    other = await asyncio.to_thread(running.ask, second)
    assert cold.distance(other) > 1e-2, (
        "log-probabilities do not vary between documents: this test would be blind"
    )

    cached = await asyncio.to_thread(running.ask, first)
    assert cached.cached_tokens == chunks * CHUNK_TOKENS
    assert cached.distance(cold) <= TOLERANCE

    await until_stored(running, 2 * chunks)
    for key in sorted(running.keys()):
        running.store.set(key, bytes(running.store.strlen(key)))
    zeroed = await asyncio.to_thread(running.ask, first)
    assert zeroed.cached_tokens == chunks * CHUNK_TOKENS
    assert zeroed.distance(cold) > 10 * TOLERANCE

    running.store.delete(list(running.keys()))
    again = await asyncio.to_thread(running.ask, first)
    assert again.cached_tokens == 0
    assert again.distance(cold) <= TOLERANCE
