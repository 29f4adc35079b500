"""The nodes that kvtui knows: those of ``hosts.toml``, and the lab's while it is up."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kvtui.campaign.target import host_of
from kvtui.hosts_file import (
    HostsError,
    NodeEntry,
    Role,
    format_hosts,
    parse_hosts,
    with_added,
    with_changed,
    without,
)
from kvtui.lab import lab_paths
from kvtui.paths import Places
from remote.hosts import HostSpec
from remote.lab.info import LabInfo, read
from remote.lab.locks import is_held

FILE = "hosts.toml"
LAB_STORE = "valkey"
Entries = tuple[NodeEntry, ...]


@dataclass(frozen=True, slots=True)
class KnownNode:
    """A node that kvtui can ask.

    Attributes:
        entry: What is known of it.
        host: How it is reached.
        lab: Whether it is one of the lab's.
        lab_store: Host and port of the lab's store, as the lab's nodes reach it.
    """

    entry: NodeEntry
    host: HostSpec
    lab: bool = False
    lab_store: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class HostsStore:
    """``hosts.toml`` on this machine. Every change is written whole or not at all.

    Attributes:
        config: The configuration directory.
    """

    config: Path

    @property
    def path(self) -> Path:
        """The file."""
        return self.config / FILE

    def load(self) -> Entries:
        """The nodes in it; none where there is no file.

        Raises:
            HostsError: It cannot be read or understood; the message names file and line.
        """
        try:
            raw = self.path.read_bytes()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise HostsError(f"{self.path} cannot be read: {error.strerror}.") from error
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            raise HostsError(f"{self.path}:{line}: this is not UTF-8.", "Save the file as UTF-8.") from error
        return parse_hosts(text, str(self.path))

    def add(self, entry: NodeEntry) -> None:
        """Add a node.

        Raises:
            HostsError: One has that name already, or the file is broken or cannot be written.
        """
        self._change(lambda entries: with_added(entries, entry))

    def edit(self, name: str, entry: NodeEntry) -> None:
        """Replace a node; it may get another name.

        Raises:
            HostsError: There is no such node, another has the new name, or the file cannot be written.
        """
        self._change(lambda entries: with_changed(entries, name, entry))

    def remove(self, name: str) -> None:
        """Remove a node.

        Raises:
            HostsError: There is no such node, or the file cannot be written.
        """
        self._change(lambda entries: without(entries, name))

    def _change(self, change: Callable[[Entries], Entries]) -> None:
        try:
            self.config.mkdir(parents=True, exist_ok=True)
            with self._alone():
                self._write(format_hosts(change(self.load())))
        except OSError as error:
            raise HostsError(f"{self.path} cannot be written: {error.strerror}.") from error

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other kvtui processes from changing the file meanwhile."""
        directory = os.open(self.config, os.O_RDONLY)
        try:
            fcntl.flock(directory, fcntl.LOCK_EX)
            yield
        finally:
            os.close(directory)

    def _write(self, text: str) -> None:
        # A link to a file elsewhere stays a link.
        path = self.path.resolve()
        part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        try:
            with part.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def host_spec(entry: NodeEntry) -> HostSpec:
    """How a node of ``hosts.toml`` is reached."""
    host = host_of(entry.name, entry.ssh)
    if entry.identity_file is None:
        return host
    key = str(Path(entry.identity_file).expanduser())
    return HostSpec(entry.name, host.address, host.port, host.username, client_keys=(key,))


def known_nodes(where: Places) -> tuple[KnownNode, ...]:
    """Every node of ``hosts.toml``, then the lab's when it is up; a name of the file hides the lab's.

    Raises:
        HostsError: ``hosts.toml`` is broken.
    """
    entries = HostsStore(where.config).load()
    names = {entry.name for entry in entries}
    own = tuple(KnownNode(entry, host_spec(entry)) for entry in entries)
    lab = lab_paths(where)
    info = read(lab.info) if is_held(lab.daemon_lock) else None
    if info is None:
        return own
    return own + tuple(node for node in _lab_nodes(info) if node.entry.name not in names)


def _lab_nodes(info: LabInfo) -> Iterator[KnownNode]:
    for name, host in info.nodes.items():
        user = f"{host.username}@" if host.username else ""
        entry = NodeEntry(
            name=name,
            ssh=f"{user}{host.address}:{host.port}",
            roles=(Role.STORE,) if name == LAB_STORE else (Role.GPU,),
            engine_python=info.parts.engine_python,
            model_roots=() if name == LAB_STORE else (str(Path(info.parts.model_dir).parent),),
        )
        yield KnownNode(entry, host, lab=True, lab_store=(info.store.host, info.store.port))
