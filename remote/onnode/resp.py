"""A client of a Valkey server: one plain socket, a command at a time."""

from __future__ import annotations

import io
import socket
from typing import Any, Union, cast

from .failure import Failure

Word = Union[str, bytes, memoryview]
LINE_LIMIT = 1 << 16


class Refused(Exception):
    """The server's own error, in its words."""


class Connection:
    """An open connection, with the password given where there is one."""

    def __init__(self, host: str, port: int, password: str, timeout_s: float) -> None:
        """Connect.

        Raises:
            Failure: ``store`` when nothing answers there, or the password is refused.
        """
        self._where = "%s:%d" % (host, port)
        try:
            self._socket = socket.create_connection((host, port), timeout=timeout_s)
        except OSError as error:
            raise Failure("store", "No Valkey answers at %s: %s." % (self._where, _reason(error))) from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = cast(io.BufferedReader, self._socket.makefile("rb", buffering=1 << 16))
        if password:
            try:
                self.call("AUTH", password)
            except Refused as error:
                self.close()
                raise Failure(
                    "store", "Valkey at %s refuses the password: %s." % (self._where, error)
                ) from None

    def call(self, *words: Word) -> Any:
        """A command's answer: text, a whole number, bytes, a list, or None.

        Raises:
            Refused: The server said no.
            Failure: ``store`` when the connection broke.
        """
        self._send(words)
        return self._answer()

    def get_into(self, key: str, buffer: memoryview) -> None:
        """Read a value of the buffer's very length into it.

        Raises:
            Refused: The server said no.
            Failure: ``store`` when the value is missing or of another length, or the connection broke.
        """
        self._send(("GET", key))
        head = self._line()
        if head[:1] == b"-":
            raise _refusal(head[1:])
        if head != b"$%d" % len(buffer):
            raise Failure("store", "Valkey at %s lost a value that was measured with." % self._where)
        self._fill(buffer)
        self._line()

    def close(self) -> None:
        """Close it."""
        self._reader.close()
        self._socket.close()

    def _send(self, words: "tuple[Word, ...]") -> None:
        small = b"*%d\r\n" % len(words)
        try:
            for word in words:
                data = word.encode() if isinstance(word, str) else word
                small += b"$%d\r\n" % len(data)
                if len(data) > LINE_LIMIT:
                    # Not copied together with its length.
                    self._socket.sendall(small)
                    self._socket.sendall(data)
                    small = b"\r\n"
                else:
                    small += bytes(data) + b"\r\n"
            self._socket.sendall(small)
        except OSError as error:
            # A server that refuses says so before it closes.
            self._refusal_after(error)

    def _refusal_after(self, error: OSError) -> None:
        try:
            head = self._reader.readline(LINE_LIMIT)
        except OSError:
            head = b""
        if head[:1] == b"-":
            raise _refusal(head[1:]) from None
        raise self._broken(error) from None

    def _answer(self) -> Any:
        head = self._line()
        kind, rest = head[:1], head[1:]
        if kind == b"+":
            return rest.decode("utf-8", "replace")
        if kind == b"-":
            raise _refusal(rest)
        try:
            count = int(rest)
        except ValueError:
            raise Failure("store", "What answers at %s is no Valkey." % self._where) from None
        if kind == b":":
            return count
        if count < 0:
            return None
        if kind == b"$":
            data = bytearray(count)
            self._fill(memoryview(data))
            self._line()
            return bytes(data)
        if kind == b"*":
            return [self._answer() for _ in range(count)]
        raise Failure("store", "What answers at %s is no Valkey." % self._where)

    def _line(self) -> bytes:
        try:
            line = self._reader.readline(LINE_LIMIT)
        except OSError as error:
            raise self._broken(error) from None
        if not line.endswith(b"\r\n"):
            raise Failure("store", "Valkey at %s closed the connection." % self._where)
        return line[:-2]

    def _fill(self, buffer: memoryview) -> None:
        try:
            count = self._reader.readinto(buffer)
        except OSError as error:
            raise self._broken(error) from None
        if count != len(buffer):
            raise Failure("store", "Valkey at %s closed the connection." % self._where)

    def _broken(self, error: OSError) -> Failure:
        return Failure("store", "The connection to Valkey at %s broke: %s." % (self._where, _reason(error)))


def _refusal(raw: bytes) -> Refused:
    return Refused(raw.decode("utf-8", "replace").strip().rstrip("."))


def _reason(error: OSError) -> str:
    if isinstance(error, socket.timeout):  # the same as TimeoutError from Python 3.10 on
        return "no answer in time"
    return error.strerror or str(error)
