"""Reads values from the store with the engine's own client, in as many threads as LMCache takes."""

from __future__ import annotations

import importlib
import importlib.metadata
import itertools
import json
import os
import subprocess
import sys
from typing import Any, Dict, List, Tuple

from . import places
from .parallel import timed
from .watch import Watch

MARK = "kvtui:"
POLL_S = 0.2
TIMEOUT_MS = 10_000  # LMCache's own, valkey_adapter.py


class GlideFailed(Exception):
    """The engine's client did not measure, with its reason."""


def run(job: Dict[str, Any], watch: Watch) -> Tuple[List[float], str]:
    """Bytes a second of each repeat, by the interpreter ``python`` of an engine, and the client's version.

    Raises:
        GlideFailed: It has no glide, or that did not do it.
        Failure: ``timeout`` or ``cut-off``, from the watch.
    """
    python = places.absolute(job["python"])
    # This file lies two levels inside the package that Python runs.
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(
            [python, package, "glide"], stdin=pipe, stdout=pipe, stderr=pipe, cwd=os.sep
        )
    except OSError as error:
        raise GlideFailed("%s cannot be run: %s." % (python, error.strerror)) from None
    try:
        stdout, stderr = _collect(process, json.dumps({**job, "timeout_s": watch.left_s()}).encode(), watch)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    for line in stdout.decode("utf-8", "replace").splitlines():
        if line.startswith(MARK):
            answer = json.loads(line[len(MARK) :])
            if "problem" in answer:
                raise GlideFailed(answer["problem"])
            return answer["bytes_s"], answer["version"]
    last = stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    raise GlideFailed(
        "%s ended with status %d: %s" % (python, process.returncode, last[0] if last else "no word")
    )


def _collect(process: "subprocess.Popen[bytes]", request: bytes, watch: Watch) -> Tuple[bytes, bytes]:
    first = True
    while True:
        watch.check()
        try:
            return process.communicate(request if first else None, timeout=POLL_S)
        except subprocess.TimeoutExpired:
            first = False


def main(arguments: List[str]) -> int:
    """In the engine's environment: the job on standard input, the rates on standard output."""
    job = json.loads(sys.stdin.read())
    try:
        answer: Dict[str, Any] = _read(job)
    except ImportError:
        answer = {"problem": "The engine's environment has no glide (valkey-glide-sync)."}
    except Exception as error:  # noqa: BLE001 - the client's own kinds of errors are not known here
        lines = str(error).strip().splitlines()
        answer = {"problem": "glide failed: %s." % (lines[0].rstrip(".:") if lines else type(error).__name__)}
    sys.stdout.write(MARK + json.dumps(answer) + "\n")
    sys.stdout.flush()
    return 0


def _read(job: Dict[str, Any]) -> Dict[str, Any]:
    # By name: it is there in the engine's environment alone.
    glide_sync: Any = importlib.import_module("glide_sync")
    glide_sync.Logger.set_logger_config(glide_sync.LogLevel.OFF)
    credentials = glide_sync.ServerCredentials(job["password"]) if job.get("password") else None
    config = glide_sync.GlideClientConfiguration(
        [glide_sync.NodeAddress(job["host"], int(job["port"]))],
        credentials=credentials,
        request_timeout=TIMEOUT_MS,
    )
    workers, chunk = int(job["workers"]), int(job["chunk_bytes"])
    watch = Watch(float(job["timeout_s"]))
    crew = [glide_sync.GlideClient.create(config) for _ in range(workers)]
    staged = [memoryview(bytearray(chunk)) for _ in range(workers)]
    targets = [memoryview(bytearray(chunk)) for _ in range(workers)]

    def work(worker: int, key: str) -> None:
        # Into a buffer of the thread's own and from there to its place (LMCache 0.5.4 ``v1/storage_backend/
        # valkey/worker_pool.py``).
        if int(crew[worker].get(key.encode(), buffer=staged[worker]) or 0) != chunk:
            raise ValueError("a value is missing")
        targets[worker][:] = staged[worker]

    rates = []
    for _ in range(int(job["repeats"])):
        done, elapsed = timed(workers, itertools.cycle(job["keys"]), work, float(job["slice_s"]), watch)
        rates.append(done * chunk / elapsed)
    for client in crew:
        client.close()
    return {"bytes_s": rates, "version": importlib.metadata.version("valkey-glide-sync")}
