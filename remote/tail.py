"""A copy of a growing file on a node, kept up by byte offset."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from remote.link import Link
from remote.process import tail


async def read_on(link: Link, path: str, offset: int) -> AsyncIterator[tuple[int, bytes]]:
    """What a file on a node holds from a byte on, in pieces, with the offset of each.

    Raises:
        RemoteError: The node cannot be asked.
    """
    while (chunk := await tail(link, path, offset)).data:
        yield offset, chunk.data
        offset = chunk.next_offset


class FileCopy:
    """The copy of one file; its own length says where to read on, so it survives its reader."""

    def __init__(self, link: Link, remote_path: str, local_path: Path, secret: str = "") -> None:
        """Make a copy that never holds a secret.

        Args:
            link: The link to the node.
            remote_path: The file there.
            local_path: The copy here.
            secret: Text to be written as asterisks, as many as it has bytes, so that offsets stay true.
        """
        self._link = link
        self._remote_path = remote_path
        self._local_path = local_path
        self._secret = secret.encode()

    async def update(self) -> bytes:
        """Append what is new, and return it.

        Raises:
            RemoteError: The node cannot be asked.
        """
        size = self._local_path.stat().st_size if self._local_path.exists() else 0
        new = b""
        held = b""
        with self._local_path.open("ab") as file:
            async for _, data in read_on(self._link, self._remote_path, size):
                whole = self._masked(held + data)
                # The end of a piece may be the start of the secret: it waits for the next piece.
                kept = len(whole) - self._maybe_secret(whole)
                file.write(whole[:kept])
                file.flush()
                new += whole[:kept]
                held = whole[kept:]
        return new

    def _masked(self, data: bytes) -> bytes:
        return data.replace(self._secret, b"*" * len(self._secret)) if self._secret else data

    def _maybe_secret(self, data: bytes) -> int:
        """Length of the longest end of ``data`` with which the secret begins."""
        longest = min(len(self._secret) - 1, len(data))
        return next((n for n in range(longest, 0, -1) if data.endswith(self._secret[:n])), 0)

    def lines(self) -> list[str]:
        """All lines of the copy so far."""
        if not self._local_path.exists():
            return []
        return self._local_path.read_text(encoding="utf-8", errors="replace").splitlines()
