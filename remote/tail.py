"""A copy of a growing file on a node, kept up by byte offset."""

from __future__ import annotations

from pathlib import Path

from remote.following import followed
from remote.link import Link
from remote.process import read_on


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

    @property
    def size_bytes(self) -> int:
        """How much of the file the copy holds."""
        return self._local_path.stat().st_size if self._local_path.exists() else 0

    async def update(self) -> None:
        """Append what is new.

        Raises:
            RemoteError: The node cannot be asked.
        """
        rest = b""
        async for offset, data in read_on(self._link, self._remote_path, self.size_bytes):
            rest = self.append(offset - len(rest), rest + data)

    async def follow(self) -> None:
        """Append what is new as it comes, for as long as the link holds.

        Raises:
            RemoteError: The node cannot be asked any more.
        """
        rest = b""
        async with followed(self._link, self._remote_path, self.size_bytes) as pieces:
            async for offset, data in pieces:
                rest = self.append(offset - len(rest), rest + data)

    def append(self, offset: int, data: bytes) -> bytes:
        """Append what of a piece the copy does not hold yet; several readers may bring the same bytes.

        Args:
            offset: Byte of the file at which the piece starts; not beyond the copy's end.
            data: The piece.

        Returns:
            Its end, where that may be the start of the secret: it must be brought again with what follows.
        """
        size = self.size_bytes
        whole = self._masked(data[size - offset :])
        kept = len(whole) - self._maybe_secret(whole)
        with self._local_path.open("ab") as file:
            file.write(whole[:kept])
        return data[size - offset + kept :]

    def _masked(self, data: bytes) -> bytes:
        return data.replace(self._secret, b"*" * len(self._secret)) if self._secret else data

    def _maybe_secret(self, data: bytes) -> int:
        """Length of the longest end of ``data`` with which the secret begins."""
        longest = min(len(self._secret) - 1, len(data))
        return next((n for n in range(longest, 0, -1) if data.endswith(self._secret[:n])), 0)

    def read(self, offset: int) -> bytes:
        """What the copy holds from a byte on."""
        if not self._local_path.exists():
            return b""
        with self._local_path.open("rb") as file:
            file.seek(offset)
            return file.read()

    def lines(self) -> list[str]:
        """All lines of the copy so far."""
        if not self._local_path.exists():
            return []
        return self._local_path.read_text(encoding="utf-8", errors="replace").splitlines()
