"""Where things are kept on the node, and how files are written there."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from typing import Any, Dict, Iterator, Optional

from .failure import Failure


def home() -> str:
    """The home directory, as the environment names it: several nodes may share a machine and a user."""
    return os.environ.get("HOME") or os.path.expanduser("~")


def state_root() -> str:
    """The directory that holds everything kvtui keeps on this node."""
    return os.path.join(home(), ".kvtui")


def absolute(path: str) -> str:
    """The path with ``~`` filled in, relative to the home directory."""
    return os.path.normpath(os.path.join(home(), os.path.expanduser(path)))


def boot_id() -> str:
    """Changes with every boot, so that a pid from before one is never taken for a live process."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def read_json(path: str) -> Optional[Dict[str, Any]]:
    """The JSON object in a file; None when the file is missing or holds anything else."""
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def write_json(path: str, value: Dict[str, Any]) -> None:
    """Replace a file in one step: a reader sees the old content or the new, never a part."""
    temporary = "%s.%d.tmp" % (path, os.getpid())
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def make_dir(path: str) -> None:
    """Create a private directory, parents included.

    Raises:
        Failure: ``cannot-write``, with the system's reason.
    """
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
    except OSError as error:
        raise Failure(
            "cannot-write", "The directory %s cannot be made: %s." % (path, error.strerror)
        ) from None


def remove_file(path: str) -> None:
    """Remove a file, if it is there."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


@contextlib.contextmanager
def locked(path: str) -> Iterator[None]:
    """Hold an exclusive lock on a file for the block; the lock ends with the process in any case."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
