"""The host keys that are trusted: files in OpenSSH's ``known_hosts`` format."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import asyncssh

from remote.errors import KnownKey

SSH_PORT = 22
GLOBAL_FILE = "/etc/ssh/ssh_known_hosts"


def entry_name(host: str, port: int) -> str:
    """How a host is called in ``known_hosts``: with its port only where that is not 22."""
    return host if port == SSH_PORT else f"[{host}]:{port}"


def fingerprint(key: asyncssh.SSHKey) -> str:
    """Algorithm and SHA-256 fingerprint of a key, as ``ssh-keygen -l`` shows it."""
    return f"{key.get_algorithm()} {key.get_fingerprint()}"


@dataclass(frozen=True, slots=True)
class KnownHosts:
    """Trusted host keys in one or more files; a file that is missing holds none.

    Attributes:
        files: Absolute paths; new keys go to the first.
    """

    files: tuple[str, ...]

    def load(self) -> asyncssh.SSHKnownHosts:
        """Every entry that can be read; others are passed over, as OpenSSH does."""
        return _loaded(tuple(_state(name) for name in self.files))

    def keys_of(self, host: str, address: str, port: int) -> tuple[KnownKey, ...]:
        """The keys on file for exactly this host and port.

        Args:
            host: Its name.
            address: Its IP address, or empty.
            port: Its SSH port.
        """
        names = [entry_name(name, port) for name in (host, address) if name]
        return tuple(
            KnownKey(fingerprint(key), file, number, revoked)
            for file, number, line in _lines(self.files)
            for key, revoked in _keys(line, names)
        )

    def add(self, host: str, port: int, key: asyncssh.SSHKey) -> None:
        """Trust a key from now on.

        Raises:
            OSError: The file cannot be written.
        """
        path = Path(self.files[0])
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        algorithm, data = key.export_public_key().decode().split()[:2]
        entry = f"{entry_name(host, port)} {algorithm} {data}\n"
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "r+b", buffering=0) as file:
            size_bytes = file.seek(0, os.SEEK_END)
            if size_bytes:
                # A last line that an editor left open must not swallow the new one.
                file.seek(size_bytes - 1)
                entry = entry if file.read(1) == b"\n" else f"\n{entry}"
            file.write(entry.encode())


def _lines(files: Iterable[str]) -> Iterator[tuple[str, int, str]]:
    """File, number and text of every line."""
    for name in files:
        try:
            text = Path(name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            yield name, number, line


def _state(name: str) -> tuple[str, int, int]:
    """A file, and what changes when it does."""
    try:
        found = os.stat(name)
    except OSError:
        return name, 0, 0
    return name, found.st_mtime_ns, found.st_size


@lru_cache(maxsize=8)
def _loaded(files: tuple[tuple[str, int, int], ...]) -> asyncssh.SSHKnownHosts:
    """The entries of files in this state: read once for many nodes."""
    known = asyncssh.SSHKnownHosts()
    for _, _, line in _lines(name for name, *_ in files):
        try:
            known.load(line)
        except ValueError:
            continue
    return known


def _keys(line: str, names: list[str]) -> list[tuple[asyncssh.SSHKey, bool]]:
    """The host keys that one line holds for a host under any of its names, and whether they are revoked."""
    try:
        known = asyncssh.import_known_hosts(line)
    except ValueError:
        return []
    for name in names:
        # The port is in the name already, so that an entry for another port does not count.
        trusted, _, revoked, *_ = known.match(name, "", None)
        if trusted or revoked:
            return [(key, bool(revoked)) for key in (*trusted, *revoked)]
    return []
