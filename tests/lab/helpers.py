"""What the tests of the lab share."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import asyncssh

from remote.hosts import HostSpec
from remote.lab.info import LabParts
from remote.lab.paths import LabPaths

VALKEY_STAND_IN = '''#!{python}
"""Answers INFO as a Valkey server does."""
import os, socketserver, sys

class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        while self.rfile.readline():
            self.wfile.write(b"$0\\r\\n# Server\\r\\nprocess_id:%d\\r\\n\\r\\n" % os.getpid())

socketserver.ThreadingTCPServer.allow_reuse_address = True
socketserver.ThreadingTCPServer.daemon_threads = True
address = ("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1]))
socketserver.ThreadingTCPServer(address, Handler).serve_forever()
'''


def stand_in_parts(directory: Path, server: str | None = None) -> LabParts:
    """Make the parts of a lab that never starts an engine; without a `server`, Valkey has a stand-in."""
    if server is None:
        server = str(directory / "valkey-server")
        write_script(server, VALKEY_STAND_IN.format(python=sys.executable))
    return LabParts(
        engine_python=sys.executable,
        valkey_server=server,
        model_dir=str(directory),
        connector_dir=str(directory),
        connector_module="none",
        served_name="none",
    )


def write_script(path: str, text: str) -> None:
    """Write a program."""
    Path(path).write_text(text)
    Path(path).chmod(0o755)


async def start_elsewhere(paths: LabPaths, parts: LabParts, then: str = "") -> asyncio.subprocess.Process:
    """Start a lab from another process, which prints the lab's id and then does something else."""
    code = (
        "import asyncio, json, os, signal, sys; from pathlib import Path; from remote import lab\n"
        "root, parts = Path(sys.argv[1]), lab.LabParts(**json.loads(sys.argv[2]))\n"
        "up = lab.up(lab.LabPaths(root, root), lambda line: None, lambda: parts)\n"
        f"print(asyncio.run(up).lab_id)\n{then}\n"
    )
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code, str(paths.root), json.dumps(asdict(parts))),
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )


def connect(node: HostSpec) -> asyncssh.misc._ACMWrapper[asyncssh.SSHClientConnection]:
    """Connect as kvtui does, with nothing of this user's own SSH set-up."""
    assert node.port is not None
    assert node.client_keys is not None
    return asyncssh.connect(
        node.address,
        node.port,
        username=node.username or "",
        client_keys=list(node.client_keys),
        known_hosts=node.known_hosts,
        config=None,
        agent_path=None,
    )


def detached(command: str, pid_file: str, log: str = "/dev/null") -> str:
    """Build a shell command that starts another in a session of its own, and ends once that is so."""
    inner = shlex.quote(f"echo $$ > {pid_file}; exec {command}")
    return f"setsid sh -c {inner} </dev/null >{log} 2>&1 & until [ -s {pid_file} ]; do sleep 0.02; done"


def lives(pid: int) -> bool:
    """Tell whether a process runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


async def eventually(condition: Callable[[], bool], what: str, limit_s: float = 15.0) -> None:
    """Wait until a condition holds; fail with `what` when it does not in time."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, f"not in {limit_s:g} s: {what}"
        await asyncio.sleep(0.02)


def pid_in(path: Path) -> int | None:
    """Read the pid that a shell wrote, once it has."""
    try:
        text = path.read_text()
    except OSError:
        return None
    return int(text) if text.endswith("\n") else None


async def wait_for_pid(path: Path) -> int:
    """Wait for a pid file."""
    await eventually(lambda: pid_in(path) is not None, f"a pid in {path.name}")
    pid = pid_in(path)
    assert pid is not None
    return pid


def open_files() -> int:
    """Count this process's open files."""
    return len(os.listdir("/proc/self/fd"))
