"""Locks between processes: files that the kernel unlocks when their holder dies."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import Self


class FileLock:
    """One process's hold on a lock file; `with` gives it back."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def try_take(self) -> bool:
        """Take the lock if nobody has it."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def is_held(path: Path) -> bool:
    """Tell whether a living process holds a lock; looking takes it for a moment."""
    if not path.exists():
        return False
    with FileLock(path) as lock:
        return not lock.try_take()
