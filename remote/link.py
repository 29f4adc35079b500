"""The link to one node: commands, the node's agent, uploads and forwarded ports over one SSH connection."""

from __future__ import annotations

import asyncio
import contextlib
import json
import posixpath
import secrets
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import asyncssh

from remote import connection as ssh
from remote.asking import Asker
from remote.errors import (
    AgentError,
    AuthFailed,
    CommandFailed,
    CommandTimeout,
    HostKeyRefused,
    NodeUnreachable,
    NoPython,
)
from remote.forwarding import forwarded_port
from remote.hosts import HostSpec
from remote.node_package import node_package
from remote.ssh_errors import explain

CHANNELS = 8  # OpenSSH's MaxSessions is 10 a connection; a rest stays free for others on it
OLDEST_PYTHON = (3, 8)
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 2.0
MARGIN_S = 5.0  # for the way there and back, so that the agent's own time-out is heard
NOT_FOUND = (126, 127)  # what a shell says of a command that it cannot run
# One line, without backslashes or nested quotes: it must pass through sh, csh and fish alike.
_LOOK = (
    "import json,os,sys;h=os.path.expanduser('~');f=os.path.join(h,'.kvtui','agent',sys.argv[1]);"
    "print('kvtui:'+json.dumps([list(sys.version_info[:2]),sys.executable,h,f,os.path.exists(f)]))"
)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Completed:
    """A command that has ended; a negative status is the number of the signal that ended it."""

    exit_status: int
    stdout: bytes
    stderr: bytes


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What a link learns about its node before the first agent command.

    Attributes:
        python: Absolute path of the node's Python.
        home: Absolute home directory.
        agent: Absolute path of the uploaded package.
    """

    python: str
    home: str
    agent: str


class Link:
    """One node. Connects when first used, and again when the connection was lost.

    Attributes:
        name: The node's name.
        few_sessions: The node allows so few sessions at a time that none may be kept open to look on.
    """

    def __init__(
        self, host: HostSpec, asker: Asker | None = None, tell: Callable[[str], None] | None = None
    ) -> None:
        """Make the link, without a connection yet.

        Args:
            host: How to reach the node.
            asker: Asks a person about a new host key and for passphrases; without one, both are refused.
            tell: Told in a sentence when a connection that there was is lost, and when it is back.
        """
        self._tell = tell or (lambda text: None)
        self._lost = False
        self.host = host
        self._asker = asker
        self.name = host.name
        self._connection: asyncssh.SSHClientConnection | None = None
        self._connecting = asyncio.Lock()
        self._preparing = asyncio.Lock()
        self._channels = asyncio.Semaphore(CHANNELS)
        self._kept_open: set[asyncssh.SSHClientProcess[bytes]] = set()
        self.few_sessions = False
        self._facts: NodeFacts | None = None
        self._was_connected = False
        self._closed = False

    async def run(self, command: str, *, stdin: bytes = b"", timeout_s: float = 60) -> Completed:
        """Run a command in the login shell and collect what it writes.

        Args:
            command: The command.
            stdin: Its input.
            timeout_s: Time for it once there is a connection; a person may take longer to answer.

        Raises:
            CommandTimeout: It did not end in time; it may still run on the node.
            NodeUnreachable: No connection, or it was lost while the command ran.
        """
        await self.connected()
        try:
            async with asyncio.timeout(timeout_s), self._channels:
                process = await self._open(command)
                try:
                    return await self._collect(process, stdin)
                finally:
                    process.close()
        except TimeoutError:
            raise CommandTimeout(
                f"A command on {self.host.label} did not end within {timeout_s:g} s: {_short(command)}.",
                "Is the node overloaded?",
            ) from None

    @contextlib.asynccontextmanager
    async def opened(self, command: str) -> AsyncIterator[asyncssh.SSHClientProcess[bytes]]:
        """A command that runs in the login shell as long as the context; its standard input stays open.

        Raises:
            NodeUnreachable: No connection, or it was lost while the command ran.
        """
        async with self._channels:
            process = await self._open(command)
            self._kept_open.add(process)
            try:
                yield process
            except ssh.CONNECTION_ERRORS as error:
                raise explain(error, self.host) from error
            finally:
                self._kept_open.discard(process)
                process.close()

    async def agent(self, command: str, *, timeout_s: float = 60, **args: Any) -> dict[str, Any]:
        """Ask the node's agent; uploads it first where it is missing, and repeats when the link was lost.

        Args:
            command: What to do.
            timeout_s: Time for the answer; the agent knows it too, and may use less of it.
            args: The command's arguments.

        Raises:
            AgentError: The agent said no.
            NoPython: The node has no Python that can run it.
            CommandTimeout: No answer in time.
            NodeUnreachable: No connection in time.
        """
        request = json.dumps({"timeout_s": timeout_s, **args}).encode()

        async def ask() -> dict[str, Any]:
            facts = await self.facts()
            done = await self.run(
                shlex.join(_argv(facts, command)), stdin=request, timeout_s=timeout_s + MARGIN_S
            )
            if done.exit_status != 0:
                # Perhaps the uploaded package is gone: the next question looks again.
                self._facts = None
            return self._answer(command, done)

        answer = await self._repeated(ask, timeout_s)
        if not answer.get("ok"):
            details = {k: v for k, v in answer.items() if k not in ("ok", "error", "message")}
            raise AgentError(answer["error"], f"{self.name}: {answer['message']}", details)
        return answer

    async def upload(self, data: bytes, path: str, mode: int = 0o600) -> None:
        """Write a file on the node in one step, its directory included.

        Args:
            data: The content.
            path: Absolute, or relative to the home directory.
            mode: The file's permissions.

        Raises:
            CommandFailed: The node could not write it.
        """
        folder, new = posixpath.dirname(path) or ".", f"{path}.{secrets.token_hex(4)}.tmp"
        quoted_new, quoted_path = shlex.quote(new), shlex.quote(path)
        # The count is compared because a link that breaks looks like the end of the data.
        script = (
            f"umask 077 && mkdir -p {shlex.quote(folder)} && cat > {quoted_new} && "
            f'if [ "$(wc -c < {quoted_new})" -eq {len(data)} ]; '
            f"then chmod {mode:o} {quoted_new} && mv -f {quoted_new} {quoted_path}; "
            f"else rm -f {quoted_new}; exit 9; fi"
        )
        command = shlex.join(["/bin/sh", "-c", script])
        done = await self._repeated(lambda: self.run(command, stdin=data), 60)
        if done.exit_status != 0:
            raise CommandFailed(
                f"{self.name}: the file {path} could not be written: {_last_line(done.stderr)}.",
                "Check the space and the permissions there.",
            )

    @contextlib.asynccontextmanager
    async def forward(self, host: str, port: int) -> AsyncIterator[int]:
        """A port on this machine's loopback that leads to ``host:port`` as the node sees it."""
        async with forwarded_port(self.connected, host, port) as local_port:
            yield local_port

    async def facts(self) -> NodeFacts:
        """The node's Python, home and agent; the agent is uploaded where it is missing."""
        async with self._preparing:
            if self._facts is None:
                self._facts = await self._prepare()
            return self._facts

    async def connected(self) -> asyncssh.SSHClientConnection:
        """The open connection, made now where there is none."""
        async with self._connecting:
            if self._closed:
                raise NodeUnreachable(f"The link to {self.host.label} is closed.")
            if self._connection is None or self._connection.is_closed():
                if self._was_connected:
                    self._is_lost("")
                self._connection = await ssh.connect(self.host, self._asker)
                self._was_connected = True
                self._is_back()
            return self._connection

    def _is_lost(self, how_long: str) -> None:
        if not self._lost:
            self._lost = True
            self._tell(f"The connection to {self.host.label} is lost, trying again{how_long}.")

    def _is_back(self) -> None:
        if self._lost:
            self._lost = False
            self._tell(f"The connection to {self.host.label} is back.")

    async def close(self) -> None:
        """End the connection; what runs detached on the node goes on."""
        self._closed = True
        connection, self._connection = self._connection, None
        if connection is not None:
            await ssh.disconnect(connection)

    async def _open(self, command: str) -> asyncssh.SSHClientProcess[bytes]:
        """Start a command: nothing ran before an error here, so that trying again is safe."""
        reconnected, pause_s = False, FIRST_PAUSE_S
        while True:
            connection = await self.connected()
            try:
                return await connection.create_process(command, encoding=None)
            except ssh.CONNECTION_ERRORS as error:
                if isinstance(error, asyncssh.ChannelOpenError) and not connection.is_closed():
                    # sshd counts a session until it has collected its processes, a moment after the answer.
                    if pause_s > LONGEST_PAUSE_S:
                        if not self._kept_open:
                            raise explain(error, self.host) from error
                        self._spare_sessions()
                        pause_s = FIRST_PAUSE_S
                    await asyncio.sleep(pause_s)
                    pause_s *= 2
                elif reconnected:
                    raise explain(error, self.host) from error
                else:
                    # It had broken unnoticed.
                    connection.abort()
                    reconnected = True

    def _spare_sessions(self) -> None:
        """Give up the commands that only look on, where the node does not allow as many sessions."""
        self.few_sessions = True
        for process in self._kept_open:
            process.close()
        self._kept_open.clear()

    async def _collect(self, process: asyncssh.SSHClientProcess[bytes], stdin: bytes) -> Completed:
        try:
            # A command that ends without reading all of its input is no fault.
            with contextlib.suppress(OSError):
                process.stdin.write(stdin)
                process.stdin.write_eof()
            stdout, stderr = await process.communicate()
        except ssh.CONNECTION_ERRORS as error:
            raise explain(error, self.host) from error
        status = process.returncode
        if status is None:
            raise NodeUnreachable(
                f"The connection to {self.host.label} was lost while a command ran.", "Check the network."
            )
        return Completed(status, bytes(stdout or b""), bytes(stderr or b""))

    async def _repeated(self, operation: Callable[[], Awaitable[T]], timeout_s: float) -> T:
        """Carry out an idempotent operation, again when the link is lost and comes back in time."""
        loop = asyncio.get_running_loop()
        deadline, pause_s = loop.time() + timeout_s, FIRST_PAUSE_S
        while True:
            try:
                done = await operation()
            except (AuthFailed, HostKeyRefused):
                raise
            except NodeUnreachable:
                # A node that was never reached is told of at once.
                if self._closed or not self._was_connected or loop.time() + pause_s >= deadline:
                    raise
            else:
                self._is_back()
                return done
            self._is_lost(f" for {deadline - loop.time():.0f} s")
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    async def _prepare(self) -> NodeFacts:
        package = node_package()
        look = shlex.join(["python3", "-I", "-S", "-c", _LOOK, package.file_name])
        done = await self.run(look)
        found = _marked_json(done.stdout)
        if found is None:
            raise self._no_python(done)
        version, python, home, path, present = found
        if tuple(version) < OLDEST_PYTHON:
            raise NoPython(
                f"{self.name} has Python {version[0]}.{version[1]}, which is too old.",
                "Put a python3 of 3.8 or newer on the PATH that `ssh NODE python3` sees.",
            )
        if not present:
            await self.upload(package.data, path)
        return NodeFacts(python, home, path)

    def _no_python(self, done: Completed) -> NoPython:
        why = "" if done.exit_status in NOT_FOUND else f": {_last_line(done.stderr)}"
        return NoPython(
            f"{self.name} has no usable python3{why}.",
            "Install Python 3.8 or newer there, or put it on the PATH that `ssh NODE python3` sees.",
        )

    def _answer(self, command: str, done: Completed) -> dict[str, Any]:
        # A login shell may print a greeting first; the answer is the last line.
        try:
            answer = json.loads(_last_line(done.stdout))
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or "ok" not in answer:
            raise CommandFailed(
                f"{self.name}: the agent's command {command} ended with status {done.exit_status}: "
                f"{_last_line(done.stderr) or 'no answer'}."
            )
        return answer


async def home(link: Link) -> str:
    """The absolute home directory on the node."""
    return (await link.facts()).home


async def program_argv(link: Link, program: str, *arguments: str) -> list[str]:
    """The command line that runs a long-lived node-side program, such as ``probe JOB.json``, for a spawn."""
    return _argv(await link.facts(), program, *arguments)


def _argv(facts: NodeFacts, command: str, *arguments: str) -> list[str]:
    return [facts.python, "-I", "-S", facts.agent, command, *arguments]


def _marked_json(stdout: bytes) -> list[Any] | None:
    for line in stdout.decode("utf-8", "replace").splitlines():
        _, marker, rest = line.partition("kvtui:")
        if marker:
            value: list[Any] = json.loads(rest)
            return value
    return None


def _last_line(raw: bytes) -> str:
    lines = raw.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip() if lines else ""


def _short(command: str) -> str:
    return command if len(command) <= 80 else command[:77] + "..."
