"""The probe against an engine that does everything an engine may do."""

from __future__ import annotations

import gc
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remote.onnode import stopwatch
from tests.remote.probe_job import Pass
from tests.remote.scripted_engine import (
    CHUNKED_END,
    CHUNKED_HEAD,
    GOOD,
    HEAD,
    PROMPT_TOKENS,
    Call,
    chunk,
    chunked,
    complete,
    last,
    scripted_engine,
    sse,
    usage,
)


@pytest.fixture(autouse=True, scope="module")
def _small_heap() -> Iterator[None]:
    """The probe collects garbage between requests; here that would mean all that the other tests imported."""
    gc.freeze()
    yield
    gc.unfreeze()


ROLE = {"id": "c", "choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]}


def test_a_good_pass(tmp_path: Path) -> None:
    with scripted_engine(GOOD) as engine:
        work = Pass(tmp_path, engine.port, requests=2)
        events = work.run()
    assert [(e["kind"], e.get("request_id")) for e in events] == [
        ("pass_begin", None),
        ("sent", "r1"),
        ("first_token", "r1"),
        ("done", "r1"),
        ("sent", "r2"),
        ("first_token", "r2"),
        ("done", "r2"),
        ("pass_end", None),
    ]
    assert (events[0]["requests"], events[-1]["ok"], events[-1]["failed"]) == (2, 2, 0)
    assert all(e["v"] == 1 and e["wall_s"] > 0 and e["mono_ns"] > 0 for e in events)
    done = events[3]
    assert {
        k: v for k, v in done.items() if k not in ("wall_s", "mono_ns", "ttft_ms", "total_ms", "moved")
    } == {
        "v": 1,
        "kind": "done",
        "request_id": "r1",
        "meta": {"document": 1},
        "attempt": 1,
        "prompt_tokens": PROMPT_TOKENS,
        "completion_tokens": 2,
        "cached_tokens": 4,
        "finish_reason": "length",
        "response_id": "cmpl-r1",
        "text": "AB",
        "answer": None,
        "no_text": False,
    }
    assert 0 < done["ttft_ms"] <= done["total_ms"]
    assert events[2]["ttft_ms"] == done["ttft_ms"]


def test_what_is_sent(tmp_path: Path) -> None:
    with scripted_engine(GOOD) as engine:
        work = Pass(tmp_path, engine.port)
        work.run()
        [call] = engine.calls
    assert call.head.startswith("POST /v1/completions HTTP/1.1\r\n")
    assert call.headers()["x-request-id"] == "r1"
    assert call.body == {
        **work.requests[0]["body"],  # type: ignore[dict-item]
        "stream": True,
        "stream_options": {"include_usage": True, "continuous_usage_stats": True},
    }


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(sse(ROLE), id="role"),
        pytest.param(sse(chunk("")), id="empty text"),
        pytest.param(sse(chunk("", usage=usage(0))), id="no token counted"),
        pytest.param(b": keep-alive\n\n", id="comment"),
        pytest.param(b"event: ping\nretry: 10\n\n", id="other fields"),
        pytest.param(sse({"id": "c", "choices": [], "usage": usage(0)}), id="no choice"),
    ],
)
def test_the_clock_stops_at_the_first_token_and_not_before(tmp_path: Path, before: bytes) -> None:
    def script(call: Call) -> None:
        call.send(CHUNKED_HEAD, chunked(before))
        time.sleep(0.05)
        call.mark("token")
        call.send(chunked(sse(chunk("A"))))
        call.send(chunked(sse(chunk("B", "length"), last(), "[DONE]")), CHUNKED_END)

    with scripted_engine(script) as engine:
        done = Pass(tmp_path, engine.port).result()
        marks = engine.calls[0].marks
    assert done["kind"] == "done"
    assert done["ttft_ms"] >= (marks["token"] - marks["received"]) / 1e6 >= 50


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(chunk("", "stop"), id="end of sequence"),
        pytest.param(chunk("", usage=usage(1)), id="token counted"),
        pytest.param(chunk("", choice={"token_ids": [7]}), id="token ids"),
    ],
)
def test_a_token_without_text_is_a_token(tmp_path: Path, first: dict[str, Any]) -> None:
    with scripted_engine(complete(first, chunk("", "stop"), last())) as engine:
        work = Pass(tmp_path, engine.port)
        done = work.result()
    assert (done["kind"], done["no_text"], done["text"], done["finish_reason"]) == ("done", True, "", "stop")
    assert work.events("first_token")[0]["no_text"] is True


def test_a_chat_chunk_with_text_carries_a_token(tmp_path: Path) -> None:
    content = {"id": "c", "choices": [{"delta": {"content": "A"}, "finish_reason": "stop"}]}
    with scripted_engine(complete(ROLE, content, last())) as engine:
        assert Pass(tmp_path, engine.port).result()["text"] == "A"


@pytest.mark.parametrize(
    ("messages", "error", "detail"),
    [
        pytest.param([], "no_token", "without a token", id="nothing"),
        pytest.param([ROLE, chunk(""), last()], "no_token", "without a token", id="no token"),
        pytest.param(
            [{"error": {"message": "engine is dead", "code": 500}}],
            "stream_error",
            "engine is dead",
            id="error",
        ),
        pytest.param(
            [chunk("A"), {"error": "out of memory"}], "stream_error", "out of memory", id="late error"
        ),
        pytest.param([chunk("A", "length")], "protocol", "without the count", id="no usage"),
        pytest.param(["{"], "protocol", "no JSON", id="not JSON"),
        pytest.param(["[]"], "protocol", "no JSON object", id="not an object"),
        pytest.param(
            [chunk("A", "length"), last(PROMPT_TOKENS + 1)],
            "prompt_tokens",
            f"{PROMPT_TOKENS + 1} prompt tokens where {PROMPT_TOKENS} were sent: it added a BOS token",
            id="BOS",
        ),
        pytest.param(
            [chunk("A", "length"), last(PROMPT_TOKENS - 2)],
            "prompt_tokens",
            f"counted {PROMPT_TOKENS - 2} prompt tokens where {PROMPT_TOKENS} were sent.",
            id="truncated",
        ),
    ],
)
def test_a_stream_that_proves_nothing_is_a_failure(
    tmp_path: Path, messages: list[dict[str, Any] | str], error: str, detail: str
) -> None:
    with scripted_engine(complete(*messages)) as engine:
        work = Pass(tmp_path, engine.port)
        failed = work.result()
    assert (failed["kind"], failed["error"], failed["http_status"]) == ("failed", error, None)
    assert detail in failed["detail"]
    assert "ttft_ms" not in failed
    assert (work.events()[-1]["ok"], work.events()[-1]["failed"]) == (0, 1)


@pytest.mark.parametrize("framing", ["length", "close", "chunked"])
def test_a_refusal_keeps_its_status_and_text(tmp_path: Path, framing: str) -> None:
    body = b'{"error": "the model does not exist"}'

    def script(call: Call) -> None:
        head = b"HTTP/1.1 404 Not Found\r\n"
        if framing == "length":
            call.send(head, b"Content-Length: %d\r\n\r\n" % len(body), body)
        elif framing == "chunked":
            call.send(head, b"Transfer-Encoding: chunked\r\n\r\n", chunked(body), CHUNKED_END)
        else:
            call.send(head, b"\r\n", body)

    with scripted_engine(script) as engine:
        failed = Pass(tmp_path, engine.port).result()
    assert (failed["error"], failed["http_status"]) == ("http", 404)
    assert "the model does not exist" in failed["detail"]


def test_the_next_request_is_sent_after_a_failure(tmp_path: Path) -> None:
    with scripted_engine(complete(), GOOD) as engine:
        work = Pass(tmp_path, engine.port, requests=2)
        work.run()
    assert [e["request_id"] for e in work.events("failed")] == ["r1"]
    assert [e["request_id"] for e in work.events("done")] == ["r2"]


def test_nothing_listens(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    failed = Pass(tmp_path, port).result()
    assert (failed["error"], failed["http_status"]) == ("connection", None)
    assert f"port {port}: Connection refused" in failed["detail"]


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        pytest.param([], "connection", id="nothing"),
        pytest.param([CHUNKED_HEAD[:20]], "connection", id="half a head"),
        pytest.param([CHUNKED_HEAD, chunked(sse(chunk("A")))[:-9]], "connection", id="half a chunk"),
        pytest.param([CHUNKED_HEAD, chunked(sse(chunk("A")))], "connection", id="no end"),
        pytest.param([HEAD, b"Content-Length: 900\r\n\r\n", sse(chunk("A"))], "connection", id="short"),
        pytest.param([HEAD, b"\r\n", sse(chunk("A"))], "protocol", id="unfinished"),
        pytest.param([b"+PONG\r\n\r\n\r\n"], "protocol", id="not HTTP"),
        pytest.param([CHUNKED_HEAD, b"xyz\r\n"], "protocol", id="no chunk size"),
        pytest.param([CHUNKED_HEAD, b"2\r\nabcd\r\n"], "protocol", id="long chunk"),
        pytest.param([b"HTTP/1.1 200 OK\r\n" + b"x" * 70000], "protocol", id="endless head"),
        pytest.param([CHUNKED_HEAD, b"1" * 5000], "protocol", id="endless chunk size"),
        pytest.param([HEAD, b"Content-Length: -5\r\n\r\n"], "protocol", id="no length"),
    ],
)
def test_an_answer_that_breaks_off(tmp_path: Path, parts: list[bytes], error: str) -> None:
    with scripted_engine(lambda call: call.send(*parts)) as engine:
        failed = Pass(tmp_path, engine.port).result()
    assert (failed["kind"], failed["error"]) == ("failed", error)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("framing", ["length", "close", "chunked", "continue"])
def test_every_framing_and_line_end(tmp_path: Path, framing: str, newline: str) -> None:
    body = sse(chunk("A"), chunk("B", "length"), last(), "[DONE]", newline=newline)

    def script(call: Call) -> None:
        if framing == "length":
            call.send(HEAD, b"Content-Length: %d\r\n\r\n" % len(body), body)
        elif framing == "close":
            call.send(HEAD, b"\r\n", body)
        else:
            interim = b"HTTP/1.1 100 Continue\r\n\r\n" if framing == "continue" else b""
            call.send(interim, CHUNKED_HEAD, chunked(body[:9], body[9:]), CHUNKED_END)

    with scripted_engine(script) as engine:
        done = Pass(tmp_path, engine.port).result()
    assert (done["kind"], done["text"], done["completion_tokens"]) == ("done", "AB", 2)


@pytest.mark.parametrize(
    ("message", "what"),
    [
        pytest.param(sse(ROLE), "the first token", id="no token"),
        pytest.param(sse(chunk("A")), "the end of the stream", id="tokens"),
        pytest.param(b"", "the first token", id="silence"),
    ],
)
def test_an_endless_answer_is_given_up(tmp_path: Path, message: bytes, what: str) -> None:
    def script(call: Call) -> None:
        call.send(CHUNKED_HEAD)
        while not call.gone.wait(0.01):
            if message:
                call.send(chunked(message))

    with scripted_engine(script) as engine:
        failed = Pass(tmp_path, engine.port, timeout_s=0.3).result()
    assert failed["error"] == "timeout"
    assert failed["detail"] == f"After 0.3 s {what} had not come."


def test_an_engine_that_does_not_read_is_given_up(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        work = Pass(tmp_path, listener.getsockname()[1], timeout_s=0.3)
        work.requests[0]["body"]["prompt"] = "x" * 20_000_000  # type: ignore[index]
        failed = work.result()
    assert (failed["error"], failed["detail"]) == ("timeout", "The engine did not take the request.")


def test_leases_are_renewed_before_a_request_and_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stopwatch, "TICK_S", 0.02)
    monkeypatch.setattr(stopwatch, "TICK_NS", 20_000_000)
    lease = tmp_path / "engine" / "lease"
    lease.parent.mkdir()
    lease.touch()
    renewed: list[bool] = []

    def forget() -> None:
        os.utime(lease, (0, 0))

    def script(call: Call) -> None:
        renewed.append(lease.stat().st_mtime > 0)
        forget()
        deadline = time.monotonic() + 10
        while lease.stat().st_mtime == 0 and time.monotonic() < deadline:
            time.sleep(0.005)
        renewed.append(lease.stat().st_mtime > 0)
        GOOD(call)

    forget()
    with scripted_engine(script) as engine:
        work = Pass(tmp_path, engine.port)
        work.job["lease_dirs"] = [str(lease.parent), str(tmp_path / "absent")]
        assert work.result()["kind"] == "done"
    assert renewed == [True, True]
