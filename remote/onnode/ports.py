"""Free ports for servers that are started later, and who holds the ports that are taken."""

from __future__ import annotations

import os
import random
import socket
import stat
import tempfile
import time
from typing import Any, Dict, List, NamedTuple, Optional, Set, Tuple

from . import places, procfs
from .failure import Failure
from .kernel_text import read

RESERVED_FOR_S = 120.0
LOWEST, HIGHEST = 20000, 65535
ADDRESSES = ("127.0.0.1", "0.0.0.0")  # noqa: S104 - bound for a moment, to see whether they are free
LISTEN = "0A"


class Holder(NamedTuple):
    """The process that listens on a port."""

    pid: Optional[int]
    comm: Optional[str]


def free_ports(args: Dict[str, Any]) -> Dict[str, Any]:
    """For each length in ``runs`` the first of that many free ports in a row, none of them given out twice.

    What is given out stays reserved for two minutes, against other callers of the same user on this machine.

    Raises:
        Failure: ``no-ports`` when there are not enough.
    """
    runs = [int(length) for length in args["runs"]]
    directory = _reservation_dir()
    with places.locked(os.path.join(directory, "lock")):
        path = os.path.join(directory, "reserved.json")
        now = time.time()
        entries = places.read_json(path) or {}
        reserved = {
            int(port): until for port, until in entries.items() if now < until <= now + RESERVED_FOR_S
        }
        bases = []
        for length in runs:
            base = _find(length, set(reserved))
            bases.append(base)
            reserved.update((port, now + RESERVED_FOR_S) for port in range(base, base + length))
        places.write_json(path, {str(port): until for port, until in reserved.items()})
    return {"bases": bases}


def _reservation_dir() -> str:
    """A private directory in the system's temporary one: nodes that share a machine share its ports."""
    path = os.path.join(tempfile.gettempdir(), "kvtui-ports-%d" % os.getuid())
    places.make_dir(path)
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise Failure("no-ports", "%s belongs to somebody else; remove it." % path)
    return path


def _find(length: int, reserved: Set[int]) -> int:
    for low, high in _ranges():
        starts = list(range(low, high - length + 2, length))
        # From a random start, so that a server which has just ended and one that starts do not meet.
        first = random.randrange(len(starts)) if starts else 0  # noqa: S311
        for base in starts[first:] + starts[:first]:
            run = range(base, base + length)
            if reserved.isdisjoint(run) and all(_is_free(port) for port in run):
                return base
    raise Failure("no-ports", "There are no %d free ports in a row." % length)


def _ranges() -> List[Tuple[int, int]]:
    """Where to look: first outside the range that the kernel takes its own port numbers from."""
    low, high = _ephemeral()
    outside = [(LOWEST, low - 1), (max(high + 1, LOWEST), HIGHEST)]
    return [(a, b) for a, b in outside if a <= b] + [(LOWEST, HIGHEST)]


def _ephemeral() -> Tuple[int, int]:
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
            low, high = file.read().split()
    except (OSError, ValueError):
        return 32768, 60999
    return int(low), int(high)


def _is_free(port: int) -> bool:
    """Whether a server could listen on the port; old connections count as well."""
    for address in ADDRESSES:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as candidate:
            try:
                candidate.bind((address, port))
                candidate.listen(1)
            except OSError:
                return False
    return True


def listening() -> Optional[Dict[str, int]]:
    """Inode -> port of every listening socket (proc(5), ``/proc/net/tcp``); None when none may be seen."""
    tables = [_table("/proc/net/tcp"), _table("/proc/net/tcp6")]
    if all(table is None for table in tables):
        return None
    return {inode: port for table in tables for inode, port in (table or {}).items()}


def holders(inodes: Dict[str, int]) -> Dict[int, Holder]:
    """The processes that hold some listening sockets, by port; only root sees those of other users."""
    result: Dict[int, Holder] = {}
    for pid in procfs.pids() if inodes else []:
        for inode in _socket_inodes(pid) & set(inodes):
            found = procfs.stat(pid)
            result[inodes[inode]] = Holder(pid, found.comm if found else None)
    return result


def _table(path: str) -> Optional[Dict[str, int]]:
    text = read(path)
    return None if text is None else listening_in(text)


def listening_in(table: str) -> Dict[str, int]:
    """Inode -> port of the listening sockets in the text of ``/proc/net/tcp``."""
    rows = [line.split() for line in table.splitlines()[1:]]
    return {row[9]: int(row[1].rpartition(":")[2], 16) for row in rows if len(row) > 9 and row[3] == LISTEN}


def _socket_inodes(pid: int) -> Set[str]:
    result = set()
    try:
        for name in os.listdir("/proc/%d/fd" % pid):
            target = os.readlink("/proc/%d/fd/%s" % (pid, name))
            if target.startswith("socket:["):
                result.add(target[8:-1])
    except OSError:
        pass
    return result
