"""Lines of a growing file by byte offset: bounded in work and in width, whatever the file holds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PIECE_BYTES = 1 << 16
WIDEST_LINE = 4000


@dataclass(frozen=True, slots=True)
class Lines:
    """Some whole lines of a file.

    Attributes:
        first: Number of the first of them in the file, from 1.
        lines: Without their ends, as text; bytes that are no UTF-8 are replaced, endless lines are cut.
    """

    first: int
    lines: tuple[str, ...]


def _text(raw: bytes) -> str:
    text = raw.removesuffix(b"\r").decode("utf-8", "replace")
    return text if len(text) <= WIDEST_LINE else text[:WIDEST_LINE] + "…"


class LineReader:
    """Reads a file on from where it stopped; a last line without its end waits for the next time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._next = 1
        self._in_endless = False

    def size_left(self) -> int:
        """Bytes that have not been read."""
        try:
            return max(0, self._path.stat().st_size - self._offset)
        except OSError:
            return 0

    def read(self) -> Lines | None:
        """The next piece, or ``None`` when there is no new whole line."""
        if not self.size_left():
            return None
        with self._path.open("rb") as file:
            file.seek(self._offset)
            data = file.read(PIECE_BYTES)
        last = data.rfind(b"\n")
        if last < 0:
            return self._endless(data) if len(data) == PIECE_BYTES else None
        raw = data[:last].split(b"\n")
        self._offset += last + 1
        if self._in_endless:
            # The rest of a line that has been shown already.
            raw, self._in_endless = raw[1:], False
        if not raw:
            return None
        first, self._next = self._next, self._next + len(raw)
        return Lines(first, tuple(_text(line) for line in raw))

    def _endless(self, data: bytes) -> Lines | None:
        """Show the start of a line longer than a piece, and pass over the rest of it."""
        self._offset += len(data)
        if self._in_endless:
            return None
        self._in_endless = True
        first, self._next = self._next, self._next + 1
        return Lines(first, (_text(data),))
