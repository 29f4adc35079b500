"""Ceilings measured on a node: in every way that it has, and with nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remote.onnode import ceiling_disk, ceiling_memory, chunk_files, parallel
from remote.onnode.failure import Failure
from remote.onnode.parallel import timed
from remote.onnode.watch import Watch
from tests.remote.node_runner import LocalNode, answer_of, until
from tests.remote.resp_server import RespServer, resp_server
from tests.remote.waiting import is_held, nameless_files

CHUNK = 64 * 1024
# What these programs answered once.
RECORDED = Path(__file__).parents[1] / "data" / "tools"
DISK: dict[str, Any] = {
    "dir": "tier/not/yet",
    "chunk_bytes": CHUNK,
    "threads": [2, 3],
    "repeats": 2,
    "limit_bytes": 8 * CHUNK,
    "slice_s": 5,
    "timeout_s": 15,
}
NETWORK: dict[str, Any] = {
    "host": "127.0.0.1",
    "chunk_bytes": CHUNK,
    "workers": [2, 4],
    "repeats": 2,
    "limit_bytes": 6 * CHUNK,
    "slice_s": 0.05,
    "timeout_s": 15,
}


def rates(answer: dict[str, Any]) -> dict[tuple[str, str], list[float]]:
    return {(way["what"], way["how"]): way["bytes_s"] for way in answer["ways"]}


def left_over(node: LocalNode) -> list[str]:
    return sorted(path.name for path in node.home.iterdir() if path.name not in ("agent.pyz", ".kvtui"))


@pytest.fixture(autouse=True)
def without_fio(local: LocalNode, tmp_path: Path) -> None:
    """A node whose only programs are those that a test puts there."""
    (tmp_path / "bin").mkdir()
    local.env["PATH"] = str(tmp_path / "bin")


def test_a_disk_is_measured_in_every_way_and_nothing_is_left(local: LocalNode) -> None:
    answer = local.do("ceiling-disk", **DISK)
    found = rates(answer)
    told = {("disk-read", way["how"]) for way in answer["skipped"] if way["how"].startswith("buffered")}
    buffered = {("disk-read", f"buffered and cold, {n} threads") for n in (2, 3)}
    assert buffered - told <= found.keys()
    assert ("disk-write", "buffered and synced, 2 threads") in found
    if "direct" not in [way["how"] for way in answer["skipped"]]:
        direct = {("disk-read", f"direct, {n} threads") for n in (2, 3)}
        assert direct | {("disk-write", "direct, 2 threads")} <= found.keys()
    assert all(len(each) == 2 and min(each) > 0 for each in found.values())
    assert answer["files"] == 8
    assert {way["tool"] for way in answer["ways"]} == {"kvtui"}
    assert left_over(local) == []


def test_a_chunk_that_is_no_whole_number_of_blocks_is_read_buffered_alone(local: LocalNode) -> None:
    answer = local.do("ceiling-disk", **{**DISK, "chunk_bytes": CHUNK + 1})
    assert answer["skipped"][0]["how"] == "direct"
    assert not [how for _, how in rates(answer) if how.startswith("direct")]
    assert ("disk-write", "buffered and synced, 2 threads") in rates(answer)


def test_memory_that_poses_as_a_disk_is_not_read_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(chunk_files.ChunkFiles, "forget", lambda self: 16)
    answer = ceiling_disk.measure({**DISK, "dir": str(tmp_path), "chunk_bytes": CHUNK + 1})
    assert [how for what, how in rates(answer) if what == "disk-read"] == []
    [_, *skipped] = answer["skipped"]
    assert [way["how"] for way in skipped] == ["buffered and cold, 2 threads", "buffered and cold, 3 threads"]
    assert skipped[0]["why"].startswith("16 pages stay in memory")


def test_a_disk_without_room_or_rights_says_so(local: LocalNode, monkeypatch: pytest.MonkeyPatch) -> None:
    full = local.ask("ceiling-disk", **{**DISK, "limit_bytes": CHUNK - 1})
    assert (full["error"], f"no room for a chunk of {CHUNK} bytes" in full["message"]) == ("no-space", True)

    def denied(**args: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkdtemp", denied)
    with pytest.raises(Failure) as caught, chunk_files.chunk_files(str(local.home), CHUNK, CHUNK):
        pass
    assert caught.value.message == f"Nothing can be written to {local.home}: Permission denied."


def test_never_more_than_half_of_what_is_free(local: LocalNode, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage:
        f_bavail, f_frsize = 7, CHUNK

    monkeypatch.setattr(os, "statvfs", lambda path: Usage)
    with chunk_files.chunk_files(str(local.home), CHUNK, 1 << 40) as files:
        assert len(files.buffered) == 3


def test_a_measurement_out_of_time_ends_with_nothing_left(local: LocalNode) -> None:
    answer = local.ask("ceiling-disk", **{**DISK, "limit_bytes": 4000 * CHUNK, "timeout_s": 0.01})
    assert (answer["error"], answer["message"]) == (
        "timeout",
        "The measurement did not end within 0.01 s.",
    )
    assert left_over(local) == []


def _begun(node: LocalNode, command: str, **args: Any) -> subprocess.Popen[str]:
    """A measurement under way: its lock is held."""
    lock = node.home / ".kvtui" / "ceiling.lock"
    process = node.start(command, **args)
    until(lambda: is_held(lock), "the measurement begun")
    return process


ENDLESS = {**DISK, "limit_bytes": 500 * CHUNK, "repeats": 100_000, "timeout_s": 60}


def test_a_measurement_that_nobody_waits_for_ends(local: LocalNode) -> None:
    process = _begun(local, "ceiling-disk", **ENDLESS)
    assert process.stdout is not None
    process.stdout.close()
    process.wait(20)
    assert left_over(local) == []


def test_a_killed_measurement_leaves_nothing(local: LocalNode) -> None:
    process = _begun(local, "ceiling-disk", **ENDLESS)
    until(lambda: nameless_files(local.home) != [] and left_over(local) == [], "files without names")
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    assert left_over(local) == []


def test_two_measurements_do_not_run_at_once(local: LocalNode, monkeypatch: pytest.MonkeyPatch) -> None:
    process = _begun(local, "ceiling-disk", **ENDLESS)
    second = local.ask("ceiling-memory", chunk_bytes=1, threads=[1], repeats=1, slice_s=0, timeout_s=0.3)
    assert second["error"] == "timeout"
    process.kill()
    process.communicate(timeout=20)


FIO = """\
import re, sys
job = sys.stdin.read()
lines = re.findall("^filename=(.*)$", job, re.M)
names = [name for line in lines for name in line.split(":")]
assert "bs=65536" in job and "direct=1" in job and sys.argv[1:] == ["--output-format=json", "-"]
assert len(names) == 8 and all(len(open(name, "rb").read()) == 65536 for name in names), names
assert job.count("[thread-") == len(lines) in (2, 3)
print("fio: a warning")
print(open({recorded!r}).read())
"""


def _install_fio(tmp_path: Path, script: str) -> None:
    (tmp_path / "fio.py").write_text(script)
    program = tmp_path / "bin" / "fio"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {tmp_path}/fio.py "$@"\n')
    program.chmod(0o700)


def answering(error: int, runtime_ms: int, rate: float | str) -> str:
    """A fio with this answer."""
    read = f'{{"bw_bytes": {rate}, "runtime": {runtime_ms}}}'
    return f"""print('{{"fio version": "fio-3", "jobs": [{{"error": {error}, "read": {read}}}]}}')"""


@pytest.fixture
def in_process(local: LocalNode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process as the node, on a file system that lets direct I/O be, whatever it is."""
    monkeypatch.setenv("HOME", str(local.home))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(os, "O_DIRECT", 0)


@pytest.mark.usefixtures("in_process")
def test_fio_reads_where_it_is_installed_and_is_named(tmp_path: Path) -> None:
    _install_fio(tmp_path, FIO.format(recorded=str(RECORDED / "fio-3.33.json")))
    answer = ceiling_disk.measure(DISK)
    by_fio = [way for way in answer["ways"] if way["tool"] == "fio-3.33"]
    assert [(way["how"], way["bytes_s"]) for way in by_fio] == [
        ("direct, 2 threads", [721600688.0, 721600688.0]),
        ("direct, 3 threads", [721600688.0, 721600688.0]),
    ]


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("import sys; sys.exit('no such engine')", "fio ended with status 1: no such engine"),
        ("print('hello')", "fio's answer is not JSON."),
        ("print('{}')", "fio's answer names no rate."),
        ("print('{\"jobs\": [[]]}')", "fio's answer names no rate."),
        (answering(0, 100, "NaN"), "fio read nothing."),
        (answering(0, 0, 0), "fio read nothing."),
        (answering(5, 100, 1), "fio could not read: Input/output error."),
        (answering(0, 2, 131072000), "fio was through after 2 ms, too soon for its clock."),
    ],
)
def test_a_fio_that_fails_is_told_of_and_replaced(tmp_path: Path, script: str, why: str) -> None:
    _install_fio(tmp_path, script)
    answer = ceiling_disk.measure(DISK)
    assert [way["why"] for way in answer["skipped"] if "by fio" in way["how"]] == [why, why]
    assert {way["tool"] for way in answer["ways"]} == {"kvtui"}
    assert ("disk-read", "direct, 2 threads") in rates(answer)


def test_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(ceiling_memory, "WANTED_BYTES", 8 * CHUNK)
    args = {"threads": [1, 2], "repeats": 2, "slice_s": 0.02, "timeout_s": 15}
    answer = ceiling_memory.measure({"chunk_bytes": CHUNK, **args})
    assert list(rates(answer)) == [("memory", "copy, 1 thread"), ("memory", "copy, 2 threads")]
    assert all(len(each) == 2 and min(each) > 0 for each in rates(answer).values())
    with pytest.raises(Failure) as caught:
        ceiling_memory.measure({"chunk_bytes": 5 * CHUNK, **args})
    assert caught.value.code == "no-space"


@pytest.fixture
def store() -> Iterator[RespServer]:
    with resp_server(RespServer()) as state:
        yield state


def test_the_way_to_the_store(local: LocalNode, store: RespServer) -> None:
    answer = local.do("ceiling-network", port=store.port, **NETWORK)
    assert list(rates(answer)) == [("network", f"plain socket, {n} workers") for n in (2, 4)]
    assert all(len(each) == 2 and min(each) > 0 for each in rates(answer).values())
    sets = [words for words in store.seen if words[0] == b"SET"]
    assert len(sets) == 6
    assert all(words[1].startswith(b"kvtui-ceiling-") and words[3:] == (b"EX", b"600") for words in sets)
    assert store.values == {}
    assert answer["skipped"] == []


def test_a_store_with_a_password(local: LocalNode, store: RespServer) -> None:
    store.password = "s3cret"
    assert local.do("ceiling-network", port=store.port, password="s3cret", **NETWORK)["ways"]
    assert store.values == {}
    wrong = local.ask("ceiling-network", port=store.port, password="guess", **NETWORK)
    assert wrong["error"] == "store"
    assert wrong["message"] == (
        f"Valkey at 127.0.0.1:{store.port} refuses the password: WRONGPASS invalid password."
    )
    none = local.ask("ceiling-network", port=store.port, **NETWORK)
    assert none["message"].endswith("refuses: NOAUTH Authentication required.")


def test_a_chunk_over_the_bulk_limit_is_refused_before_it_is_sent(
    local: LocalNode, store: RespServer
) -> None:
    store.longest_value = CHUNK - 1
    refused = local.ask("ceiling-network", port=store.port, **NETWORK)
    assert (refused["error"], "proto-max-bulk-len" in refused["message"]) == ("bulk-limit", True)
    assert not [words for words in store.seen if words[0] == b"SET"]
    store.config_denied = True
    assert local.do("ceiling-network", port=store.port, **NETWORK)["ways"]


def test_a_store_is_never_filled_by_more_than_half_of_its_room(local: LocalNode, store: RespServer) -> None:
    store.info = f"used_memory:{CHUNK}\r\nmaxmemory:{8 * CHUNK}\r\n"
    local.do("ceiling-network", port=store.port, **NETWORK)
    assert len([words for words in store.seen if words[0] == b"SET"]) == 3
    store.info = f"used_memory:{7 * CHUNK}\r\nmaxmemory:{8 * CHUNK}\r\n"
    assert local.ask("ceiling-network", port=store.port, **NETWORK)["error"] == "no-space"


def test_values_are_removed_when_the_measurement_fails(local: LocalNode, store: RespServer) -> None:
    store.forget = True
    failed = local.ask("ceiling-network", port=store.port, **NETWORK)
    assert (failed["error"], "lost a value" in failed["message"]) == ("store", True)
    assert store.values == {}


def test_values_are_removed_when_nobody_waits(local: LocalNode, store: RespServer) -> None:
    process = _begun(
        local, "ceiling-network", port=store.port, **{**NETWORK, "slice_s": 600, "timeout_s": 60}
    )
    until(lambda: store.connections > 1, "the reading begun")
    assert store.values
    assert process.stdout is not None
    process.stdout.close()
    process.wait(20)
    assert store.values == {}


def test_no_store_and_something_else(local: LocalNode) -> None:
    free = local.do("free-ports", runs=[1])["bases"][0]
    absent = local.ask("ceiling-network", port=free, **NETWORK)
    assert absent["message"] == f"No Valkey answers at 127.0.0.1:{free}: Connection refused."


GLIDE = """\
class Logger:
    set_logger_config = staticmethod(lambda level: None)
class LogLevel:
    OFF = 0
ServerCredentials = NodeAddress = GlideClientConfiguration = lambda *args, **kwargs: None
class GlideClient:
    create = classmethod(lambda cls, config: cls())
    def get(self, key, buffer):
        {body}
    def close(self):
        pass
"""


def _engine(tmp_path: Path, body: str | None) -> str:
    """An interpreter of an environment with a stand-in for glide, or without one."""
    site = tmp_path / "site"
    (site / "valkey_glide_sync-2.5.1.dist-info").mkdir(parents=True)
    metadata = "Metadata-Version: 2.1\nName: valkey-glide-sync\nVersion: 2.5.1\n"
    (site / "valkey_glide_sync-2.5.1.dist-info" / "METADATA").write_text(metadata)
    if body is not None:
        (site / "glide_sync.py").write_text(GLIDE.format(body=body))
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={site} exec {sys.executable} -S "$@"\n')
    python.chmod(0o700)
    return str(python)


def test_an_engine_with_glide_reads_as_lmcache_does(
    local: LocalNode, store: RespServer, tmp_path: Path
) -> None:
    python = _engine(tmp_path, "return str(len(buffer)).encode()")
    answer = local.do("ceiling-network", port=store.port, python=python, **NETWORK)
    assert [(way["how"], way["tool"]) for way in answer["ways"]] == [
        ("plain socket, 2 workers", "kvtui"),
        ("glide, 2 workers", "valkey-glide-sync 2.5.1"),
        ("plain socket, 4 workers", "kvtui"),
        ("glide, 4 workers", "valkey-glide-sync 2.5.1"),
    ]
    assert store.values == {}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (None, "The engine's environment has no glide (valkey-glide-sync)."),
        ("return None", "glide failed: a value is missing."),
        ("import os; os._exit(3)", "ended with status 3: no word"),
    ],
)
def test_glide_that_does_not_read_is_told_of(
    local: LocalNode, store: RespServer, tmp_path: Path, body: str | None, why: str
) -> None:
    python = _engine(tmp_path, body)
    answer = local.do("ceiling-network", port=store.port, python=python, **{**NETWORK, "workers": [2]})
    [skipped] = answer["skipped"]
    assert skipped["how"] == "glide, 2 workers"
    assert skipped["why"].endswith(why)
    assert [way["tool"] for way in answer["ways"]] == ["kvtui"]


def test_glide_that_hangs_is_ended_with_the_measurement(
    local: LocalNode, store: RespServer, tmp_path: Path
) -> None:
    python = _engine(
        tmp_path, f"open({str(tmp_path / 'pid')!r}, 'w').write('x'); import time; time.sleep(600)"
    )
    args = {**NETWORK, "workers": [1], "timeout_s": 3}
    answer = answer_of(local.start("ceiling-network", port=store.port, python=python, **args))
    assert answer["error"] == "timeout"
    assert (tmp_path / "pid").exists()
    assert store.values == {}


@pytest.fixture
def watch() -> Watch:
    return Watch(20.0)


def test_work_is_done_at_once_by_all_threads(watch: Watch) -> None:
    together = threading.Barrier(4)

    def work(thread: int, item: int) -> None:
        together.wait(20)

    done, elapsed = timed(4, range(8), work, 20, watch)
    assert done == 8
    assert elapsed > 0


def test_after_its_slice_nothing_more_is_begun(watch: Watch) -> None:
    done, _ = timed(1, range(1000), lambda thread, item: None, 0, watch)
    assert done == 1


def test_what_fails_in_a_thread_fails_for_all(watch: Watch) -> None:
    def work(thread: int, item: int) -> None:
        if item == 5:
            raise OSError("broken")

    with pytest.raises(OSError, match="broken"):
        timed(3, range(1_000_000), work, 20, watch)


def test_work_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    hang = threading.Event()

    def work(thread: int, item: int) -> None:
        hang.wait(60)

    monkeypatch.setattr(parallel, "GRACE_S", 0.05)
    try:
        with pytest.raises(Failure, match="hung") as caught:
            timed(1, [1], work, 20, Watch(0.1))
    finally:
        hang.set()
    assert caught.value.code == "timeout"


def test_a_watch_sees_that_its_reader_is_gone() -> None:
    reading, writing = os.pipe()
    watch = Watch(20.0, writing)
    watch.check()
    os.close(reading)
    with pytest.raises(Failure) as caught:
        watch.check()
    os.close(writing)
    assert caught.value.code == "cut-off"
