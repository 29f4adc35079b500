"""An engine that answers as a test tells it to, byte by byte."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

PROMPT_TOKENS = 6
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


@dataclass
class Call:
    """One request as the engine sees it, and the way to answer it.

    Attributes:
        marks: Moments that the script noted, on the clock of the probe.
    """

    connection: socket.socket
    head: str
    body: dict[str, Any]
    gone: threading.Event
    marks: dict[str, int] = field(default_factory=dict)

    def send(self, *parts: bytes) -> None:
        for part in parts:
            self.connection.sendall(part)

    def mark(self, name: str) -> None:
        self.marks[name] = time.perf_counter_ns()

    def headers(self) -> dict[str, str]:
        lines = self.head.split("\r\n")[1:]
        return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


Script = Callable[[Call], None]


@dataclass
class ScriptedEngine:
    """Answers the n-th request with the n-th script, later ones with the last."""

    port: int
    scripts: list[Script]
    calls: list[Call] = field(default_factory=list)


@contextmanager
def scripted_engine(*scripts: Script) -> Iterator[ScriptedEngine]:
    gone = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        engine = ScriptedEngine(listener.getsockname()[1], list(scripts))
        thread = threading.Thread(target=_serve, args=(listener, engine, gone))
        thread.start()
        try:
            yield engine
        finally:
            gone.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(listener: socket.socket, engine: ScriptedEngine, gone: threading.Event) -> None:
    while not gone.is_set():
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection, suppress(OSError):
            connection.settimeout(20)
            call = _read(connection, gone)
            engine.calls.append(call)
            engine.scripts[min(len(engine.calls), len(engine.scripts)) - 1](call)


def _read(connection: socket.socket, gone: threading.Event) -> Call:
    data = b""
    while b"\r\n\r\n" not in data:
        data += _some(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    call = Call(connection, head.decode(), {}, gone)
    while len(body) < int(call.headers()["content-length"]):
        body += _some(connection)
    call.mark("received")
    call.body = json.loads(body)
    return call


def _some(connection: socket.socket) -> bytes:
    received = connection.recv(65536)
    if not received:
        raise ConnectionResetError
    return received


def usage(completion_tokens: int, prompt_tokens: int = PROMPT_TOKENS, cached: int | None = None) -> Any:
    details = None if cached is None else {"cached_tokens": cached}
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "prompt_tokens_details": details,
    }


def chunk(text: str | None = None, finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """A message of a completion stream."""
    choice = {"index": 0, "text": text, "finish_reason": finish, **fields.pop("choice", {})}
    return {"id": "cmpl-r1", "choices": [choice], **fields}


def last(prompt_tokens: int = PROMPT_TOKENS, cached: int | None = 4) -> dict[str, Any]:
    """The message that closes a stream: counts, and no choice."""
    return {"id": "cmpl-r1", "choices": [], "usage": usage(2, prompt_tokens, cached)}


def sse(*messages: dict[str, Any] | str, newline: str = "\n") -> bytes:
    """Messages as server-sent events."""
    texts = [m if isinstance(m, str) else json.dumps(m) for m in messages]
    return "".join(f"data: {text}{newline}{newline}" for text in texts).encode()


def chunked(*parts: bytes) -> bytes:
    """Parts of a body in chunked coding, the end not included."""
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)


CHUNKED_HEAD = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
CHUNKED_END = b"0\r\n\r\n"


def complete(*messages: dict[str, Any] | str) -> Script:
    """A script that sends these messages and ends the stream as an engine does."""

    def script(call: Call) -> None:
        call.send(CHUNKED_HEAD, chunked(sse(*messages, "[DONE]")), CHUNKED_END)

    return script


GOOD = complete(chunk("A"), chunk("B", "length"), last())
