"""A server that speaks enough of Valkey's protocol to be measured: its values, and its faults."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedIOBase


@dataclass
class RespServer:
    """What a test sets, and what it then looks at."""

    port: int = 0
    password: str = ""
    longest_value: int = 512 << 20
    config_denied: bool = False
    info: str = "used_memory:1000\r\nmaxmemory:0\r\ntotal_system_memory:68719476736\r\n"
    values: dict[bytes, bytes] = field(default_factory=dict)
    seen: list[tuple[bytes, ...]] = field(default_factory=list)
    forget: bool = False
    connections: int = 0

    def answer(self, words: tuple[bytes, ...], allowed: bool) -> bytes:
        name = words[0].upper()
        self.seen.append(tuple(word[:64] for word in words))
        if name == b"AUTH":
            return b"+OK\r\n" if words[1] == self.password.encode() else b"-WRONGPASS invalid password.\r\n"
        if not allowed:
            return b"-NOAUTH Authentication required.\r\n"
        if name == b"CONFIG":
            if self.config_denied:
                return b"-NOPERM this user has no permissions\r\n"
            return _array([words[2], str(self.longest_value).encode()])
        if name == b"INFO":
            return _bulk(self.info.encode())
        if name == b"SET":
            self.values[words[1]] = words[2]
            return b"+OK\r\n"
        if name == b"GET":
            return b"$-1\r\n" if self.forget else _bulk(self.values[words[1]])
        if name == b"UNLINK":
            return b":%d\r\n" % sum(self.values.pop(key, None) is not None for key in words[1:])
        return b"-ERR unknown command\r\n"


def _bulk(data: bytes) -> bytes:
    return b"$%d\r\n%s\r\n" % (len(data), data)


def _array(items: list[bytes]) -> bytes:
    return b"*%d\r\n" % len(items) + b"".join(_bulk(item) for item in items)


def _command(stream: BufferedIOBase) -> tuple[bytes, ...] | None:
    head = stream.readline()
    if not head.startswith(b"*"):
        return None
    words = []
    for _ in range(int(head[1:])):
        size = int(stream.readline()[1:])
        words.append(stream.read(size + 2)[:-2])
    return tuple(words)


@contextmanager
def resp_server(state: RespServer) -> Iterator[RespServer]:
    """The server, on a free port of the loopback."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            state.connections += 1
            allowed = not state.password
            try:
                while words := _command(self.rfile):
                    answer = state.answer(words, allowed)
                    allowed = allowed or (words[0] == b"AUTH" and answer.startswith(b"+"))
                    self.wfile.write(answer)
            except OSError:
                pass

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

    with Server(("127.0.0.1", 0), Handler) as server:
        state.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()
