"""Reads an HTTP/1.1 response as its bytes come in, wherever they are cut."""

from __future__ import annotations

from typing import Dict, Optional

from .failed_request import PROTOCOL, FailedRequest

HEAD_LIMIT_BYTES = 65536
LINE_LIMIT_BYTES = 4096
UNTIL_CLOSE = -1


class HttpResponse:
    """The response so far.

    Attributes:
        status: None until the head is complete.
        complete: Whether the whole body is there.
    """

    def __init__(self) -> None:
        self.status: Optional[int] = None
        self.complete = False
        self._pending = b""
        self._chunked = False
        # Bytes left of the body or of the current chunk.
        self._left = UNTIL_CLOSE
        # Within chunked coding: "size", "data", "end" (of a chunk) or "trailer".
        self._part = "size"

    @property
    def until_close(self) -> bool:
        """Whether only the end of the connection ends the body."""
        return not self._chunked and self._left == UNTIL_CLOSE

    def feed(self, data: bytes) -> bytes:
        """Take what was received and return the part of the body that it brought.

        Raises:
            FailedRequest: ``protocol``, when this is not HTTP.
        """
        self._pending += data
        while self.status is None or 100 <= self.status < 200:
            if not self._read_head():
                return b""
        if self._chunked:
            return self._read_chunks()
        body, self._pending = self._pending, b""
        if not self.until_close:
            body = body[: self._left]
            self._left -= len(body)
            self.complete = self._left == 0
        return body

    def _read_head(self) -> bool:
        end = self._pending.find(b"\r\n\r\n")
        if end < 0:
            if len(self._pending) > HEAD_LIMIT_BYTES:
                raise FailedRequest(PROTOCOL, "The head of the answer has no end.")
            return False
        lines = self._pending[:end].decode("latin-1").split("\r\n")
        self._pending = self._pending[end + 4 :]
        words = lines[0].split(None, 2)
        if len(words) < 2 or not words[0].startswith("HTTP/1.") or not words[1].isdigit():
            raise FailedRequest(PROTOCOL, "The answer is not HTTP: %r." % lines[0][:80])
        self.status = int(words[1])
        self._choose_framing(_headers(lines[1:]))
        return True

    def _choose_framing(self, headers: Dict[str, str]) -> None:
        length = headers.get("content-length")
        if headers.get("transfer-encoding", "").lower().endswith("chunked"):
            self._chunked = True
        elif length is not None:
            if not length.isdigit():
                raise FailedRequest(PROTOCOL, "The answer's length is not a number: %r." % length[:80])
            self._left = int(length)
            self.complete = self._left == 0

    def _read_chunks(self) -> bytes:
        body = []
        while not self.complete:
            if self._part == "data":
                piece, self._pending = self._pending[: self._left], self._pending[self._left :]
                body.append(piece)
                self._left -= len(piece)
                if self._left:
                    break
                self._part = "end"
            else:
                line = self._take_line()
                if line is None:
                    break
                self._read_chunk_line(line)
        return b"".join(body)

    def _take_line(self) -> Optional[bytes]:
        end = self._pending.find(b"\n")
        if end < 0:
            if len(self._pending) > LINE_LIMIT_BYTES:
                raise FailedRequest(PROTOCOL, "A chunk of the answer has no size.")
            return None
        line, self._pending = self._pending[:end], self._pending[end + 1 :]
        return line.rstrip(b"\r")

    def _read_chunk_line(self, line: bytes) -> None:
        if self._part == "size":
            digits = line.partition(b";")[0].strip()
            try:
                self._left = int(digits, 16)
            except ValueError:
                raise FailedRequest(PROTOCOL, "A chunk's size is not a number: %r." % digits[:40]) from None
            self._part = "data" if self._left else "trailer"
        elif self._part == "end":
            if line:
                raise FailedRequest(PROTOCOL, "A chunk of the answer is longer than its size.")
            self._part = "size"
        elif not line:
            self.complete = True


def _headers(lines: "list[str]") -> Dict[str, str]:
    pairs = (line.partition(":") for line in lines)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}
