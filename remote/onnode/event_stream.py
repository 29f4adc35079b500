"""Reads server-sent events (WHATWG HTML, 9.2.6) as their bytes come in, wherever they are cut."""

from __future__ import annotations

from typing import List, NamedTuple


class Message(NamedTuple):
    """The data of one event, and when the last of it had come in."""

    data: str
    received_ns: int


class EventStream:
    """Splits the body of a response into messages; comments and other fields are passed over."""

    def __init__(self) -> None:
        self._line = b""
        self._skip_newline = False
        self._data: List[str] = []
        self._received_ns = 0

    def feed(self, data: bytes, received_ns: int) -> List[Message]:
        """Take a part of the body, received at that time, and return the messages that it completed."""
        if self._skip_newline and data:
            # The second half of a CR LF that was cut in two.
            data = data[1:] if data.startswith(b"\n") else data
            self._skip_newline = False
        if data.endswith(b"\r"):
            self._skip_newline = True
        text = self._line + data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, self._line = text.split(b"\n")
        messages = []
        for line in lines:
            if not line and self._data:
                messages.append(Message("\n".join(self._data), self._received_ns))
                self._data = []
            else:
                self._read(line, received_ns)
        return messages

    def _read(self, line: bytes, received_ns: int) -> None:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append((value[1:] if value.startswith(b" ") else value).decode("utf-8", "replace"))
            # The blank line after it may come later; the token was there already.
            self._received_ns = received_ns
