"""The probe: sends the requests of a pass one at a time, and writes down what happened.

It may be started again after any end: what is done stays done, and the rest is sent.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
from typing import Any, Dict, List

from . import moved
from .event_log import AlreadyRunning, EventLog
from .failed_request import FailedRequest
from .priority import raise_priority
from .stopwatch import Stopwatch, Timed

PATH = "/v1/completions"
STREAM_FIELDS = {
    "stream": True,
    "stream_options": {"include_usage": True, "continuous_usage_stats": True},
}


def main(arguments: List[str]) -> int:
    """Carry out the pass that the job file describes; 0 when every request was settled."""
    try:
        with open(arguments[0], encoding="utf-8") as file:
            job = json.load(file)
        requests = _read_requests(job["requests"])
        log = EventLog(job["events"])
        probe = Probe(job, log)
    except AlreadyRunning:
        return _refuse("Another probe works on this pass.")
    except (IndexError, KeyError, TypeError, ValueError, OSError) as error:
        return _refuse("The job cannot be read: %s: %s." % (type(error).__name__, error))
    raise_priority()
    # A collection in the middle of a request would be measured as the engine's time.
    gc.disable()
    probe.run(requests)
    return 0


class Probe:
    """Works through the requests of one pass."""

    def __init__(self, job: Dict[str, Any], log: EventLog) -> None:
        self._log = log
        self._port = int(job["port"])
        self._lease_paths = [os.path.join(directory, "lease") for directory in job.get("lease_dirs", ())]
        self._stopwatch = Stopwatch(self._port, float(job["timeout_s"]), self.renew_leases)
        self._counts = moved.Moved(job.get("engine_dir", ""), job.get("store_port"))

    def run(self, requests: List[Dict[str, Any]]) -> None:
        """Send every request that is not settled yet."""
        if not self._log.began:
            self._log.write("pass_begin", requests=len(requests))
        waiting = [r for r in requests if r["request_id"] not in self._log.settled]
        for request in waiting:
            self.renew_leases()
            self._send(request)
            gc.collect()
        if not self._log.ended:
            self._log.write("pass_end", ok=self._log.ok, failed=self._log.failed)

    def renew_leases(self) -> None:
        """Keep the engine (and whatever else this pass needs) from being ended as unused."""
        for path in self._lease_paths:
            with contextlib.suppress(OSError):
                os.utime(path)

    def _send(self, request: Dict[str, Any]) -> None:
        attempt = self._log.attempts.get(request["request_id"], 0) + 1

        def first_token(stamp_ns: int, timed: Timed) -> None:
            self._log.write(
                "first_token",
                request,
                stamp_ns,
                attempt=attempt,
                ttft_ms=timed.ms(stamp_ns),
                no_text=not timed.completion.first_token_has_text,
            )

        try:
            data = serialised(request, self._port)
            before = self._counts.read()
            self._log.write("sent", request, attempt=attempt)
            with contextlib.closing(self._stopwatch.connect()) as connection:
                timed = self._stopwatch.exchange(connection, data, first_token)
                after = self._counts.read()
            first_ns = timed.completion.check(request["expect_prompt_tokens"])
        except FailedRequest as failure:
            self._log.write(
                "failed",
                request,
                attempt=attempt,
                error=failure.error,
                detail=failure.detail,
                http_status=failure.http_status,
            )
        else:
            result = {**_result(timed, first_ns), "moved": moved.between(before, after)}
            self._log.write("done", request, timed.completion.last_ns, attempt=attempt, **result)


def serialised(request: Dict[str, Any], port: int) -> bytes:
    """Head and body of a request, ready to be sent."""
    body = json.dumps({**request["body"], **STREAM_FIELDS}).encode()
    head = (
        "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: text/event-stream\r\n"
        "Content-Type: application/json\r\nContent-Length: %d\r\n"
        "X-Request-Id: %s\r\nConnection: close\r\n\r\n"
    )
    return (head % (PATH, port, len(body), request["request_id"])).encode("ascii") + body


def _result(timed: Timed, first_token_ns: int) -> Dict[str, Any]:
    completion = timed.completion
    return {
        "ttft_ms": timed.ms(first_token_ns),
        "total_ms": timed.ms(completion.last_ns),
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": completion.completion_tokens,
        "cached_tokens": completion.cached_tokens,
        "finish_reason": completion.finish_reason,
        "response_id": completion.response_id,
        "text": completion.text,
        "answer": completion.answer,
        "no_text": not completion.text,
    }


def _read_requests(path: str) -> List[Dict[str, Any]]:
    with open(path, encoding="utf-8") as file:
        requests = [json.loads(line) for line in file if line.strip()]
    for request in requests:
        # Asked for here, so that a bad line stops the pass before its first request.
        if not request["request_id"].isascii() or not request["request_id"].isprintable():
            raise ValueError("a request id must be printable ASCII")
        if not isinstance(request["body"], dict) or not isinstance(request["expect_prompt_tokens"], int):
            raise TypeError("a request needs a body and its count of prompt tokens")
    return requests


def _refuse(sentence: str) -> int:
    sys.stderr.write(sentence + "\n")
    return 2
