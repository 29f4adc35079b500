"""The SSH servers of the lab: one a node, on loopback, with keys made for this lab."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import asyncssh

from remote.hosts import HostSpec
from remote.lab import members
from remote.lab.paths import LabPaths
from remote.lab.session import Node, serve

if TYPE_CHECKING:
    from pathlib import Path

ADDRESS = "127.0.0.1"
LOOPBACK_NAMES = ("127.0.0.1", "::1", "localhost")
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "LD_LIBRARY_PATH")
"""What a login on this machine would set anyway; everything else of the caller's environment stays out."""


class Connections:
    """Counts the open connections of all nodes."""

    def __init__(self) -> None:
        self.open = 0


class NodeServer(asyncssh.SSHServer):
    """Accepts the lab's key and forwards to loopback ports, nothing else."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._counted = False

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connections.open += 1
        self._counted = True

    def connection_lost(self, exc: Exception | None) -> None:
        if self._counted:
            self._connections.open -= 1
            self._counted = False

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> bool:
        return dest_host in LOOPBACK_NAMES


def node_environment(
    paths: LabPaths, lab_id: str, node: str, own_environment: Mapping[str, str]
) -> dict[str, str]:
    """Build the environment of every command on a node."""
    user = getpass.getuser()
    kept = {name: own_environment[name] for name in KEPT_VARIABLES if name in own_environment}
    return {
        **kept,
        "PATH": f"{paths.bin_dir}{os.pathsep}{kept.get('PATH', os.defpath)}",
        "HOME": str(paths.home(node)),
        "USER": user,
        "LOGNAME": user,
        "SHELL": "/bin/sh",
        members.MARKER: lab_id,
    }


def link_python(bin_dir: Path) -> None:
    """Give the nodes a ``python3``: the interpreter under kvtui's own virtual environment."""
    bin_dir.mkdir(parents=True, exist_ok=True)
    link = bin_dir / "python3"
    link.unlink(missing_ok=True)
    link.symlink_to(os.path.realpath(sys.executable))


def make_client_key(ssh_dir: Path) -> tuple[Path, asyncssh.SSHKey]:
    """Make the key that opens this lab's nodes, and write it where only its owner can read it."""
    ssh_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    key = asyncssh.generate_private_key("ssh-ed25519", comment="kvtui lab")
    path = ssh_dir / "client_key"
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(key.export_private_key())
    return path, key


async def start(
    paths: LabPaths, lab_id: str, names: tuple[str, ...], connections: Connections
) -> tuple[dict[str, HostSpec], list[asyncssh.SSHAcceptor]]:
    """Start a server for each node, and write the key and the known-hosts file that reach them."""
    key_path, client_key = make_client_key(paths.ssh_dir)
    link_python(paths.bin_dir)
    known_hosts = paths.ssh_dir / "known_hosts"
    lines: list[str] = []
    hosts: dict[str, HostSpec] = {}
    acceptors: list[asyncssh.SSHAcceptor] = []
    for name in names:
        paths.home(name).mkdir(parents=True, exist_ok=True, mode=0o700)
        host_key = asyncssh.generate_private_key("ssh-ed25519")
        node = Node(name, paths.home(name), node_environment(paths, lab_id, name, os.environ))
        acceptor = await asyncssh.listen(
            ADDRESS,
            0,
            config=None,
            server_factory=partial(NodeServer, connections),
            server_host_keys=[host_key],
            authorized_client_keys=asyncssh.import_authorized_keys(client_key.export_public_key().decode()),
            gss_host=None,
            process_factory=partial(serve, node=node),
            encoding=None,
            allow_pty=False,
        )
        port = acceptor.get_port()
        acceptors.append(acceptor)
        lines.append(f"[{ADDRESS}]:{port} {host_key.export_public_key().decode().strip()}\n")
        hosts[name] = HostSpec(
            name=name,
            address=ADDRESS,
            port=port,
            username=getpass.getuser(),
            client_keys=(str(key_path),),
            known_hosts=str(known_hosts),
            config=None,
        )
    known_hosts.write_text("".join(lines), encoding="utf-8")
    return hosts, acceptors
