"""SSH servers for tests: one in this process, and Debian's sshd.

Both run a real shell, with a home directory that belongs to the test.
"""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import os
import shutil
import signal
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh

from remote.hosts import HostSpec
from tests.remote.waiting import reached

SSHD = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
START_LIMIT_S = 10.0


@dataclass
class Keys:
    """Generated keys of a server and its one user, as files."""

    dir: Path
    client: Path
    host: Path
    authorized: Path
    known_hosts: Path

    @classmethod
    def generate(cls, directory: Path) -> Keys:
        directory.mkdir(parents=True, exist_ok=True)
        keys = cls(
            directory,
            directory / "client",
            directory / "host",
            directory / "authorized_keys",
            directory / "known_hosts",
        )
        for path in (keys.client, keys.host):
            key = asyncssh.generate_private_key("ssh-ed25519")
            key.write_private_key(path)
            key.write_public_key(f"{path}.pub")
            path.chmod(0o600)
        keys.authorized.write_bytes(Path(f"{keys.client}.pub").read_bytes())
        return keys

    def trust(self, port: int, address: str = "127.0.0.1") -> None:
        """Write the host key into the known hosts."""
        public = Path(f"{self.host}.pub").read_text()
        self.known_hosts.write_text(f"[{address}]:{port} {public}")


@dataclass
class Node:
    """A reachable node.

    Attributes:
        env: Environment of every command; the in-process server only.
    """

    home: Path
    keys: Keys
    port: int = 0
    env: dict[str, str] = field(default_factory=dict)
    username: str = "tester"
    address: str = "127.0.0.1"

    @property
    def spec(self) -> HostSpec:
        return HostSpec(
            name="gpu-a",
            address=self.address,
            port=self.port,
            username=self.username,
            client_keys=(str(self.keys.client),),
            known_hosts=str(self.keys.known_hosts),
            config=None,
        )


@dataclass
class InProcess(Node):
    """A node whose SSH server runs in the event loop of the test.

    Attributes:
        sessions_allowed: More of them at a time are refused.
        sessions_most: The most that there were at a time.
        shells_now: Commands that run.
    """

    acceptor: asyncssh.SSHAcceptor | None = None
    connections: list[asyncssh.SSHServerConnection] = field(default_factory=list)
    sessions: set[object] = field(default_factory=set)
    sessions_most: int = 0
    sessions_allowed: int = 100
    shells_now: int = 0

    async def start(self) -> None:
        """Listen, on the same port again when started a second time."""
        node = self

        class Server(asyncssh.SSHServer):
            def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
                node.connections.append(conn)

            def session_requested(self) -> asyncssh.SSHServerProcess[bytes]:
                if len(node.sessions) >= node.sessions_allowed:
                    raise asyncssh.ChannelOpenError(asyncssh.OPEN_RESOURCE_SHORTAGE, "no more sessions")
                session: asyncssh.SSHServerProcess[bytes]
                session = asyncssh.SSHServerProcess(node._shell, None, 3, False)
                node.sessions.add(session)
                node.sessions_most = max(node.sessions_most, len(node.sessions))
                return session

            def connection_requested(self, *_: object) -> bool:
                return True

        self.acceptor = await asyncssh.listen(
            self.address,
            self.port,
            server_factory=Server,
            server_host_keys=[str(self.keys.host)],
            authorized_client_keys=str(self.keys.authorized),
            encoding=None,
            config=None,
        )
        self.port = self.acceptor.get_port()

    async def stop(self) -> None:
        """Be gone at once, connections included, as in a power cut."""
        if self.acceptor is not None:
            self.acceptor.close()
        connections, self.connections = self.connections, []
        for connection in connections:
            connection.abort()
        for connection in connections:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(connection.wait_closed(), 5)
        # Each ends its shell.
        await reached(lambda: self.shells_now == 0)
        self.sessions.clear()

    async def _shell(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        self.shells_now += 1
        try:
            await self._run(process)
        finally:
            self.shells_now -= 1
            self.sessions.discard(process)

    async def _run(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        child = await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            process.command or "",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.home,
            env={"PATH": os.environ["PATH"], "HOME": str(self.home), **self.env},
            start_new_session=True,
        )
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        feeding = asyncio.ensure_future(_feed(process.stdin, child.stdin))
        output = asyncio.gather(_copy(child.stdout, process.stdout), _copy(child.stderr, process.stderr))
        closed = asyncio.ensure_future(process.channel.wait_closed())
        try:
            await asyncio.wait((output, closed), return_when=asyncio.FIRST_COMPLETED)
            if not closed.done():
                process.exit(await child.wait())
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            for task in (feeding, output, closed):
                task.cancel()
            await asyncio.gather(feeding, output, closed, return_exceptions=True)
            # Nobody reads on: a pipe that is paused would never be found at its end, nor the child ended.
            child._transport.close()  # type: ignore[attr-defined]
            await child.wait()


async def _feed(source: asyncssh.SSHReader[bytes], target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        while data := await source.read(65536):
            target.write(data)
            await target.drain()
    target.close()


async def _copy(source: asyncio.StreamReader, target: asyncssh.SSHWriter[bytes]) -> None:
    while data := await source.read(65536):
        target.write(data)
        await target.drain()


@contextlib.asynccontextmanager
async def in_process(home: Path, keys: Keys, address: str = "127.0.0.1") -> AsyncIterator[InProcess]:
    node = InProcess(home, keys, address=address)
    await node.start()
    keys.trust(node.port, address)
    try:
        yield node
    finally:
        await node.stop()


@contextlib.asynccontextmanager
async def sshd(home: Path, keys: Keys) -> AsyncIterator[Node]:
    """Debian's own server, in the foreground on a free port, for the user of the test."""
    assert SSHD is not None
    port = _prepare_sshd(home, keys)
    config = keys.dir / "sshd_config"
    log = (keys.dir / "sshd.log").open("wb")
    server = await asyncio.create_subprocess_exec(
        SSHD, "-D", "-e", "-f", str(config), stderr=log, start_new_session=True
    )
    log.close()
    keys.trust(port)
    try:
        await listening(port)
        yield Node(home, keys, port, username=getpass.getuser())
    finally:
        server.terminate()
        await server.wait()


def _prepare_sshd(home: Path, keys: Keys) -> int:
    """Write the server's configuration, for a port that is free now."""
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    force = keys.dir / "force.sh"
    force.write_text('cd "$HOME"; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"\n')
    (keys.dir / "sshd_config").write_text(
        f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {keys.host}\nAuthorizedKeysFile {keys.authorized}\n"
        f"PidFile none\nUsePAM no\nStrictModes no\nSetEnv HOME={home}\nForceCommand /bin/sh {force}\n"
    )
    return port


async def listening(port: int) -> None:
    """Wait until something listens on a port."""
    async with asyncio.timeout(START_LIMIT_S):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                await asyncio.sleep(0.02)
            else:
                writer.close()
                return
