"""What moved while a request was served: counts of the kernel, and nothing where one cannot be believed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remote.onnode import counters, moved, places, procfs
from remote.onnode.moved import Moved, between, grown
from remote.onnode.record import Record
from remote.onnode.store_sockets import StoreSockets

PARTS = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 2**60))
NET = b"""Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo
    lo: 500 5 0 0 0 0 0 0 500 5 0 0 0 0 0 0
  eth0:1000 9 0 0 0 0 0 0 2000 9 0 0 0 0 0 0
"""
DISKS = b""" 259       0 nvme0n1 10 0 2000 5 20 0 4000 6 0 7 8 0 0 0 0 0 0
 259       1 nvme0n1p1 10 0 1999 5 20 0 3999 6 0 7 8
"""


@given(before=st.none() | PARTS, after=st.none() | PARTS)
def test_a_count_that_is_absent_began_anew_or_lost_a_part_is_unknown_and_never_zero(
    before: dict[str, int] | None, after: dict[str, int] | None
) -> None:
    growth = grown(before, after)
    if before is not None and after is not None and all(after.get(k, -1) >= v for k, v in before.items()):
        assert growth == sum(after.values()) - sum(before.values()) >= 0
    else:
        assert growth is None


def test_text_of_the_kernel() -> None:
    assert moved.received(NET) == {b"lo": 500, b"eth0": 1000}
    assert moved.disk_reads(DISKS, frozenset([b"nvme0n1"])) == {"nvme0n1": 2000 * 512}
    assert counters.process_io(b"rchar: 7\nread_bytes: 4096\n") == {"rchar": 7, "read_bytes": 4096}
    # Another system's text, or none: unknown.
    assert moved.received(None) is None
    assert moved.disk_reads(None, frozenset([b"nvme0n1"])) is None
    assert moved.disk_reads(DISKS, frozenset()) is None
    assert counters.process_io(b"no such text") == {}


@given(text=st.binary(max_size=300))
def test_no_text_makes_a_reading_fail(text: bytes) -> None:
    moved.received(text)
    moved.disk_reads(text, frozenset([b"a"]))
    counters.process_io(text)


def _engine(directory: Path) -> str:
    """A record of a process, which is this one."""
    me = procfs.stat(os.getpid())
    assert me is not None
    state = {
        "boot_id": places.boot_id(),
        "pid": me.pid,
        "start_ticks": me.start_ticks,
        "pgid": me.pid,
    }
    places.write_json(Record(str(directory)).state_path, state)
    return str(directory)


def test_what_the_engine_s_processes_read_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(procfs, "group", lambda *_: [procfs.stat(os.getpid())])
    counts = Moved(_engine(tmp_path), None)
    data = tmp_path / "data"
    data.write_bytes(b"x" * 300_000)
    before = counts.read()
    data.read_bytes()
    found = between(before, counts.read())
    # The readings themselves are read by this process too, here.
    assert 300_000 <= found["engine_rchar_bytes"] <= 350_000
    assert found["engine_read_bytes"] is not None
    assert found["store_rx_bytes"] is None
    assert found["took_ms"] > 0


@pytest.mark.parametrize("engine_dir", ["", "/nowhere"])
def test_without_an_engine_its_counts_are_unknown(engine_dir: str) -> None:
    counts = Moved(engine_dir, None)
    found = between(counts.read(), counts.read())
    assert (found["engine_read_bytes"], found["engine_rchar_bytes"]) == (None, None)


def _pair(server: socket.socket) -> tuple[socket.socket, socket.socket]:
    client = socket.create_connection(server.getsockname()[:2])
    return client, server.accept()[0]


def _take(client: socket.socket, size: int) -> None:
    while size:
        size -= len(client.recv(size))


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_only_the_engine_s_own_connections_to_the_store_count(family: socket.AddressFamily) -> None:
    host = "127.0.0.1" if family is socket.AF_INET else "::1"
    with ExitStack() as stack:
        store, other = (stack.enter_context(socket.create_server((host, 0), family=family)) for _ in "ab")
        client, serving = (stack.enter_context(closing(one)) for one in _pair(store))
        away, elsewhere = (stack.enter_context(closing(one)) for one in _pair(other))
        sockets = StoreSockets([os.getpid()], store.getsockname()[1])
        nobody = StoreSockets([], store.getsockname()[1])
        before = sockets.read()
        serving.sendall(b"x" * 100_000)
        elsewhere.sendall(b"x" * 5_000)
        _take(client, 100_000)
        _take(away, 5_000)
        assert grown(before, sockets.read()) == 100_000
        assert nobody.read() is None


def test_a_connection_that_was_made_anew_makes_the_count_unknown_once() -> None:
    with ExitStack() as stack:
        store = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        client, serving = _pair(store)
        sockets = StoreSockets([os.getpid()], store.getsockname()[1])
        before = sockets.read()
        # The store ends it first, so it waits in no list of the kernel as an open one.
        serving.close()
        client.close()
        client, serving = (stack.enter_context(closing(one)) for one in _pair(store))
        after = sockets.read()
        assert grown(before, after) is None
        serving.sendall(b"x" * 1000)
        _take(client, 1000)
        assert grown(after, sockets.read()) == 1000


def test_a_kernel_that_does_not_tell_makes_it_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> socket.socket:
        raise PermissionError

    monkeypatch.setattr(socket, "socket", refuse)
    assert StoreSockets([os.getpid()], 6379).read() is None


def test_a_file_of_the_kernel_is_read_whole_and_one_that_is_gone_is_unknown(tmp_path: Path) -> None:
    big = tmp_path / "big"
    big.write_bytes(b"x" * 3 * moved.PART_BYTES)
    assert moved.KernelFile(str(big)).read() == big.read_bytes()
    assert moved.KernelFile(str(tmp_path / "none")).read() is None
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    file = moved.KernelFile(f"/proc/{process.pid}/io")
    assert b"rchar" in (file.read() or b"")
    process.communicate(b"\n")
    assert counters.process_io(file.read()) == {}
