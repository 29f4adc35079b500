"""What came in over an engine's own connections to the store, by the kernel's count of each socket.

Unlike an interface's count it holds nothing of other processes, and it is the same over loopback. The kernel
is asked by netlink (sock_diag(7); Linux ``include/uapi/linux/inet_diag.h`` and ``tcp.h``): once for every
connection of the machine, which takes long on a large one, then only for those that were found.
"""

from __future__ import annotations

import os
import socket
import struct
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
NLM_F_REQUEST, NLM_F_DUMP = 1, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
INET_DIAG_INFO = 2
ESTABLISHED = 1
# Of inet_diag_msg: the socket's name begins at 4, is 48 long, and the inode stands at 68.
NAME, NAME_BYTES, INODE_AT, MESSAGE_BYTES = 4, 48, 68, 72
# Of tcp_info: tcpi_bytes_received, without what was sent twice.
RECEIVED_AT = 128
TIMEOUT_S = 1.0
BUFFER_BYTES = 1 << 16


class Connection(NamedTuple):
    """One connection; its name holds the kernel's cookie, so no later socket can be taken for it."""

    family: int
    name: bytes
    inode: int
    received_bytes: Optional[int]

    @property
    def peer_port(self) -> int:
        return int(struct.unpack("!H", self.name[2:4])[0])


class StoreSockets:
    """The connections of some processes to a port, found at first and when one of them is gone.

    Args:
        pids: The processes.
        port: The store's port.
    """

    def __init__(self, pids: List[int], port: int) -> None:
        self._pids = pids
        self._port = port
        self._known: List[Connection] = []
        self._look()

    def read(self) -> Optional[Dict[str, int]]:
        """Bytes received by connection; None when there is none, or the kernel does not say."""
        try:
            with _netlink() as kernel:
                found = [_again(kernel, known) for known in self._known]
        except OSError:
            return None
        if not found or None in found:
            self._look()
            found = list(self._known)
        result = {}
        for one in found:
            if one is None or one.received_bytes is None:
                return None
            result[one.name.hex()] = one.received_bytes
        return result or None

    def _look(self) -> None:
        self._known = []
        try:
            inodes = _inodes(self._pids)
            with _netlink() as kernel:
                for family in (socket.AF_INET, socket.AF_INET6):
                    kernel.send(_request(family, b"\0" * NAME_BYTES, NLM_F_DUMP))
                    found = (one for one in _answers(kernel) if one.peer_port == self._port)
                    self._known += [one for one in found if one.inode in inodes]
        except OSError:
            self._known = []


def _netlink() -> socket.socket:
    kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, NETLINK_SOCK_DIAG)
    kernel.settimeout(TIMEOUT_S)
    return kernel


def _request(family: int, name: bytes, flags: int) -> bytes:
    states = 1 << ESTABLISHED
    body = struct.pack("=BBBBI", family, socket.IPPROTO_TCP, 1 << (INET_DIAG_INFO - 1), 0, states) + name
    return struct.pack("=IHHII", 16 + len(body), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | flags, 1, 0) + body


def _again(kernel: socket.socket, known: Connection) -> Optional[Connection]:
    """The same connection now; None when it is gone."""
    kernel.send(_request(known.family, known.name, 0))
    for kind, body in _messages(kernel.recv(BUFFER_BYTES)):
        if kind == SOCK_DIAG_BY_FAMILY:
            found = connection(body)
            return found._replace(inode=known.inode) if found.name == known.name else None
    return None


def _answers(kernel: socket.socket) -> Iterator[Connection]:
    while True:
        for kind, body in _messages(kernel.recv(BUFFER_BYTES)):
            if kind == NLMSG_DONE:
                return
            if kind == NLMSG_ERROR:
                raise OSError("the kernel does not tell of its sockets")
            yield connection(body)


def _messages(data: bytes) -> Iterator[Tuple[int, bytes]]:
    while len(data) >= 16:
        length, kind = struct.unpack("=IH", data[:6])
        if length < 16:
            return
        yield kind, data[16:length]
        data = data[(length + 3) & ~3 :]


def connection(body: bytes) -> Connection:
    """A connection from an ``inet_diag_msg`` and its attributes; bytes are None on kernels before 4.2."""
    (inode,) = struct.unpack("=I", body[INODE_AT:MESSAGE_BYTES])
    received, rest = None, body[MESSAGE_BYTES:]
    while len(rest) >= 4:
        length, kind = struct.unpack("=HH", rest[:4])
        if length < 4:
            break
        if kind == INET_DIAG_INFO and length >= 4 + RECEIVED_AT + 8:
            (received,) = struct.unpack("=Q", rest[4 + RECEIVED_AT : 4 + RECEIVED_AT + 8])
        rest = rest[(length + 3) & ~3 :]
    return Connection(body[0], body[NAME : NAME + NAME_BYTES], inode, received)


def _inodes(pids: List[int]) -> "set[int]":
    """Sockets that the processes hold open."""
    found = set()
    for pid in pids:
        folder = "/proc/%d/fd" % pid
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        for name in names:
            try:
                target = os.readlink(os.path.join(folder, name))
            except OSError:
                continue
            if target.startswith("socket:["):
                found.add(int(target[8:-1]))
    return found
