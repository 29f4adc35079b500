"""The guard: a small process that ends a lab whose daemon has died, even by ``kill -9``.

Daemon and guard hold the two ends of a socket pair. Whoever reads end-of-file knows that the other is gone.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from remote.lab import info, members


def start(lab_id: str, info_path: Path) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start the guard of this process.

    Returns:
        The guard, and the daemon's end of the pair: readable (at its end) when the guard has died.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        command = [
            sys.executable,
            "-P",
            "-m",
            "remote.lab.guard",
            str(theirs.fileno()),
            lab_id,
            str(info_path),
        ]
        guard = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], start_new_session=True, cwd="/"
        )
    return guard, ours


def watch(peer: socket.socket, lab_id: str, info_path: Path) -> None:
    """Wait for the daemon's death, then end all that belongs to the lab and take its description away."""
    peer.recv(1)
    survivors = members.end(lab_id, but={os.getpid()})
    if survivors:
        print(f"guard: still alive after the lab's end: {survivors}", file=sys.stderr, flush=True)  # noqa: T201
        return
    described = info.read(info_path)
    if described is not None and described.lab_id == lab_id:
        info_path.unlink(missing_ok=True)


def main() -> None:
    """Run as ``python -m remote.lab.guard FD LAB_ID INFO_PATH``."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with socket.socket(fileno=int(sys.argv[1])) as peer:
        watch(peer, sys.argv[2], Path(sys.argv[3]))


if __name__ == "__main__":
    main()
