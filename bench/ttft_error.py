"""How far a measured time to first token is from the true one.

A server in a process of its own sends the first token exactly 50 ms after it has the whole request, a prompt
of 10,000 token ids. Every client takes its turn in every round, so that all of them see the same machine.

    python bench/ttft_error.py --rounds 300
"""

from __future__ import annotations

import argparse
import gc
import http.client
import importlib.util
import json
import math
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from remote.onnode.priority import raise_priority
from remote.onnode.probe import serialised
from remote.onnode.stopwatch import Stopwatch, Timed

DELAY_NS = 50_000_000
SPIN_NS = 2_000_000
PROMPT_TOKENS = 10_000
TARGET_MEDIAN_MS, TARGET_P95_MS = 0.6, 1.0
PATH = "/v1/completions"

Client = Callable[[int, dict[str, Any]], float]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=300, help="requests per client")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    raise_priority()
    if options.serve:
        serve()
        return
    with server() as port:
        errors = measure(port, clients(), options.rounds)
    print("\n".join(table(errors)))


def clients() -> dict[str, Client]:
    """The probe, http.client, and those of requests and httpx that are installed."""
    found: dict[str, Client] = {"probe": with_probe, "http.client": with_http_client}
    if importlib.util.find_spec("requests"):
        found["requests"] = with_requests
    if importlib.util.find_spec("httpx"):
        found["httpx"] = with_httpx
    return found


def measure(port: int, candidates: dict[str, Client], rounds: int) -> dict[str, list[float]]:
    """Milliseconds that each client says beyond the true 50, a list a client."""
    body = {"model": "m", "prompt": [1000 + i % 30_000 for i in range(PROMPT_TOKENS)], "max_tokens": 1}
    request = {"request_id": "bench", "body": body}
    errors: dict[str, list[float]] = {name: [] for name in candidates}
    for client in candidates.values():
        client(port, request)
    gc.disable()
    for _ in range(rounds):
        for name, client in candidates.items():
            gc.collect()
            errors[name].append(client(port, request) - DELAY_NS / 1e6)
    gc.enable()
    return errors


def table(errors: dict[str, list[float]]) -> Iterator[str]:
    """One row a client: its error, and how many times the probe's that is."""
    yield f"{'client':<12} {'n':>5} {'median ms':>10} {'p95 ms':>8} {'median/probe':>13} {'p95/probe':>10}"
    base_median, base_p95 = statistics.median(errors["probe"]), p95(errors["probe"])
    for name, values in errors.items():
        median, high = statistics.median(values), p95(values)
        ratios = f"{median / base_median:>13.2f} {high / base_p95:>10.2f}"
        yield f"{name:<12} {len(values):>5} {median:>10.3f} {high:>8.3f} {ratios}"
    yield f"target: the probe's median at most {TARGET_MEDIAN_MS} ms, its p95 at most {TARGET_P95_MS} ms"


def p95(values: list[float]) -> float:
    """The smallest value that at least 95 % of all do not exceed."""
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


def with_probe(port: int, request: dict[str, Any]) -> float:
    """TTFT in milliseconds by the project's probe."""
    stopwatch = Stopwatch(port, 10.0, lambda: None)
    data = serialised(request, port)
    first_ms = []

    def first_token(stamp_ns: int, timed: Timed) -> None:
        first_ms.append(timed.ms(stamp_ns))

    with closing(stopwatch.connect()) as connection:
        stopwatch.exchange(connection, data, first_token)
    return first_ms[0]


def with_http_client(port: int, request: dict[str, Any]) -> float:
    """TTFT by the standard library, connected and serialised before the clock like the probe."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.connect()
    data = json.dumps(request["body"]).encode()
    start_ns = time.perf_counter_ns()
    connection.request("POST", PATH, body=data, headers={"Content-Type": "application/json"})
    response = connection.getresponse()
    while b'"text":' not in response.readline():
        pass
    end_ns = time.perf_counter_ns()
    connection.close()
    return (end_ns - start_ns) / 1e6


def with_requests(port: int, request: dict[str, Any]) -> float:
    """TTFT by requests, used as its documentation shows."""
    import requests  # type: ignore[import-untyped,unused-ignore]

    start_ns = time.perf_counter_ns()
    with requests.post(_url(port), json=request["body"], stream=True, timeout=10) as response:
        next(line for line in response.iter_lines() if b'"text":' in line)
        return (time.perf_counter_ns() - start_ns) / 1e6


def with_httpx(port: int, request: dict[str, Any]) -> float:
    """TTFT by httpx, used as its documentation shows."""
    import httpx  # type: ignore[import-not-found,unused-ignore]

    start_ns = time.perf_counter_ns()
    with httpx.stream("POST", _url(port), json=request["body"], timeout=10) as response:
        next(line for line in response.iter_lines() if '"text":' in line)
        return (time.perf_counter_ns() - start_ns) / 1e6


@contextmanager
def server() -> Iterator[int]:
    """The scripted server in a process of its own; its port."""
    process = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True)
    if process.stdout is None:
        raise RuntimeError("the server has no output")
    try:
        yield int(process.stdout.readline())
    finally:
        process.terminate()
        process.communicate()


def serve() -> None:
    """Answer one connection after the other, for ever."""
    gc.disable()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if _read_request(connection):
                    _wait_until(time.perf_counter_ns() + DELAY_NS)
                    connection.sendall(_ANSWER)


def _read_request(connection: socket.socket) -> bool:
    """Read a request to its last byte."""
    data = b""
    while b"\r\n\r\n" not in data:
        received = connection.recv(1 << 18)
        if not received:
            return False
        data += received
    head, _, body = data.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:])
    left = int(fields[b"content-length"]) - len(body)
    while left > 0:
        received = connection.recv(1 << 18)
        if not received:
            return False
        left -= len(received)
    return True


def _wait_until(moment_ns: int) -> None:
    # A sleep wakes up late by some 0.1 ms: the rest is waited for awake.
    time.sleep(max(0, moment_ns - SPIN_NS - time.perf_counter_ns()) / 1e9)
    while time.perf_counter_ns() < moment_ns:
        pass


def _chunked(*messages: str) -> bytes:
    parts = [f"data: {message}\n\n".encode() for message in messages]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def _url(port: int) -> str:
    return f"http://127.0.0.1:{port}{PATH}"


_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
)
_ANSWER = _HEAD + _chunked(
    '{"id":"cmpl-1","choices":[{"index":0,"text":"A","finish_reason":"length"}]}', "[DONE]"
)

if __name__ == "__main__":
    main()
